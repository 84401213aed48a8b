// The API's unary methods as a table, free of any transport: what a method is named, who may call
// it, and the function that answers. gRPC serves it, and whatever else speaks for the same API can.
#pragma once

#include <absl/status/statusor.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "control/domain/resources.h"
#include "croft/v1/resource.pb.h"

namespace croft::control::api {

using domain::MessagePtr;

// What a call gives back: the response and, of a standard write, what it did or would have done,
// which travels beside it (kCountsHeader).
struct CallResult {
  MessagePtr message;
  std::optional<v1::Counts> counts = std::nullopt;
};

// Trailing metadata over gRPC, a header over HTTP: "created=1".
inline constexpr char kCountsHeader[] = "croft-counts";
// The counts that are not zero: "created=1,failed=2".
std::string FormatCounts(const v1::Counts& counts);

// Called once, from any thread.
using Answer = std::function<void(absl::StatusOr<CallResult>)>;
// Runs on a DbExecutor thread and may block on the store. `request` lives until it returns; the
// answer may come later.
using Handler = std::function<void(const domain::Caller& caller,
                                   const google::protobuf::Message& request, Answer answer)>;

enum class Access {
  kOperator,   // a bearer token
  kAnonymous,  // the request itself carries what authorises it
};

struct Method {
  const google::protobuf::MethodDescriptor* descriptor = nullptr;
  Access access = Access::kOperator;
  Handler handler;

  MessagePtr MakeRequest() const;
};

// Filled while wiring, then constant; thread-safe from there on.
class Methods {
 public:
  void Add(Method method);
  // A method with its own use case: `function(caller, request)` returns StatusOr<Response>.
  template <typename Request, typename Function>
  void AddCustom(const std::string& full_name, Access access, Function function);

  // By descriptor; null if there is none.
  const Method* Find(const google::protobuf::MethodDescriptor* descriptor) const;

 private:
  std::map<const google::protobuf::MethodDescriptor*, Method> methods_;
};

// Every service of croft.v1 and croft.node.v1.
std::vector<const google::protobuf::ServiceDescriptor*> AllServices();

// "croft.v1.SiteService.ExplainUrl"; check fails for one that no .proto names.
const google::protobuf::MethodDescriptor* GetMethod(const std::string& full_name);

template <typename Request, typename Function>
void Methods::AddCustom(const std::string& full_name, Access access, Function function) {
  Add({.descriptor = GetMethod(full_name),
       .access = access,
       .handler = [function = std::move(function)](const domain::Caller& caller,
                                                   const google::protobuf::Message& request,
                                                   const Answer& answer) {
         auto result = function(caller, static_cast<const Request&>(request));
         if (!result.ok()) {
           answer(result.status());
           return;
         }
         using Response = typename decltype(result)::value_type;
         answer(CallResult{.message = std::make_unique<Response>(*std::move(result))});
       }});
}

}  // namespace croft::control::api
