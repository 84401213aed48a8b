// What the API promises of one resource type, asked of a real control in the order of a
// resource's life. Each check expects what the ones before it left.
#pragma once

#include <functional>
#include <string>

#include "tests/integration/control/contract_examples.h"
#include "tests/integration/control/reflected_api.h"

namespace croft::tests {

std::string ReplaceAll(std::string text, const std::string& what, const std::string& with);

class TypeRound {
 public:
  using Caller = std::function<Reply(const std::string& method, const std::string& text)>;

  TypeRound(const ContractExample& example, std::string farm, const std::string& tag, Caller call)
      : example_(example), farm_(std::move(farm)), tag_(tag), call_(std::move(call)) {}

  std::string id(const std::string& suffix) const { return tag_ + "-" + suffix; }
  std::string name(const std::string& suffix) const {
    return (example_.in_farm ? farm_ + "/" : std::string()) + example_.noun + "s/" + id(suffix);
  }
  Reply Do(const std::string& verb, const std::string& text) const {
    return call_(verb + example_.service + (verb == "List" ? "s" : ""), text);
  }
  // A create request; `label` tells rounds apart in filters.
  std::string CreateText(const std::string& suffix, const std::string& more = "") const {
    const std::string resource =
        ReplaceAll(ReplaceAll(example_.resource, "$FARM", farm_), "$ID", id(suffix));
    return (example_.in_farm ? "parent: '" + farm_ + "' " : std::string()) + example_.noun +
           "_id: '" + id(suffix) + "' " + example_.noun + " { " + resource +
           " labels { key: 'round' value: '" + tag_ + "' } } " + more;
  }
  std::string ListText(const std::string& filter, const std::string& more = "") const {
    return "parent: '" + farm_ + "' filter: '" + filter + "' " + more;
  }
  std::string UpdateText(const std::string& resource_name, const std::string& change,
                         const std::string& more = "") const {
    return example_.noun + " { name: '" + resource_name + "' " + change + " } " + more;
  }
  const ContractExample& example() const { return example_; }
  const std::string& tag() const { return tag_; }

 private:
  const ContractExample& example_;
  const std::string farm_;
  const std::string tag_;
  const Caller call_;
};

// Makes resources a, c and b, in this order.
void CheckCreate(const TypeRound& round);
void CheckRead(const TypeRound& round);
void CheckList(const TypeRound& round);
void CheckUpdate(const TypeRound& round, const std::string& name);
void CheckDelete(const TypeRound& round, bool can_undelete);

}  // namespace croft::tests
