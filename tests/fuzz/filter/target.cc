// A filter of sites: what is taken can be matched, and says the same of the same site twice.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "croft/v1/site.pb.h"
#include "proto/base/check.h"
#include "proto/contract/filter.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace croft::contract;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto filter = Filter::Parse(text, ResourceType::kSite);
  if (!filter.ok()) {
    return 0;
  }
  croft::v1::Site site;
  site.set_name("farms/main/sites/shop");
  site.set_organization("organizations/root");
  site.set_state(croft::v1::STOPPED);
  (*site.mutable_labels())["customer"] = "acme";
  site.add_bindings()->set_host("shop.example");
  site.add_applications()->set_pool("farms/main/pools/web");
  const auto is_within = [](std::string_view one, std::string_view above) { return one == above; };
  const bool selected = filter->Matches(site, is_within);
  const auto negation = Filter::Parse(std::string("NOT (") + std::string(text) + ")",
                                      ResourceType::kSite);
  if (negation.ok()) {
    croft::Check(negation->Matches(site, is_within) != selected, "NOT is no negation");
  }
  const auto terms = IndexTerms(site);
  for (const Comparison* comparison : filter->Conjuncts()) {
    const std::string term = TermOf(*comparison);
    const bool has_term = std::find(terms.begin(), terms.end(), term) != terms.end();
    croft::Check(!selected || term.empty() || has_term, "an index would have missed the site");
  }
  return 0;
}
