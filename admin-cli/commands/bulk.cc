// set and delete of every resource that a filter selects, as an operation of control's.
#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "admin-cli/assignments.h"
#include "admin-cli/commands/operations.h"
#include "admin-cli/invocation.h"
#include "admin-cli/nouns.h"
#include "admin-cli/subject.h"
#include "croft/v1/resource.pb.h"
#include "proto/base/error.h"
#include "proto/contract/any_resource.h"

namespace croft::admin_cli {
namespace {

// Everything, or what the filter and the selector say.
absl::StatusOr<std::string> SelectionOf(const Invocation& invocation) {
  if (!invocation.names.empty()) {
    return Error(absl::StatusCode::kUnimplemented,
                 "either names or --all, --filter and --selector, not both: \"{}\"",
                 invocation.names[0]);
  }
  auto filter = FilterOf(invocation.filter, invocation.selector);
  if (filter.ok() && invocation.all != filter->empty()) {
    return Error(absl::StatusCode::kUnimplemented,
                 "--all means every {}; with --filter or --selector leave it out", invocation.type);
  }
  return filter;
}

template <typename Request>
absl::Status Address(const Invocation& invocation, const Noun& noun, Request& request) {
  auto filter = SelectionOf(invocation);
  if (!filter.ok()) {
    return filter.status();
  }
  if (!invocation.if_etag.empty()) {
    return Error(absl::StatusCode::kUnimplemented, "--if-etag is one object's, not many's");
  }
  request.set_type(std::string(noun.noun));
  if (contract::Facts(noun.type).in_farm) {
    request.set_parent("farms/" + invocation.farm);
  }
  request.set_filter(*std::move(filter));
  request.set_expect_count(invocation.expect);
  request.set_validate_only(invocation.validate_only);
  request.set_request_id(invocation.request_id);
  request.set_reason(invocation.reason);
  return absl::OkStatus();
}

// What has a meaning only for one object, whose list or fields are known.
absl::Status CheckAssignments(const Invocation& invocation) {
  if (invocation.assignments.empty()) {
    return Error(absl::StatusCode::kUnimplemented,
                 "set wants at least one key=value: see croft set --help");
  }
  for (const std::string& assignment : invocation.assignments) {
    const std::string key = assignment.substr(0, assignment.find('='));
    if (key.ends_with('+') || (key.ends_with('-') && key.size() < assignment.size()) ||
        key.find('[') != std::string::npos || key == "root" || key == "pool") {
      return Error(absl::StatusCode::kUnimplemented,
                   "{}: of many objects only whole fields are set (key=value) or unset (key-)",
                   assignment);
    }
  }
  return absl::OkStatus();
}

ExitCode Start(ApiClient& client, const Invocation& invocation, const std::string& method,
               const google::protobuf::Message& request) {
  v1::Operation operation;
  if (auto status = client.Call("ResourceService/" + method, request, operation); !status.ok()) {
    return Fail(status);
  }
  if (invocation.validate_only) {
    if (ItemPrinter::Prints(invocation.format)) {
      ItemPrinter items(invocation.format);
      items.Print(operation, operation.name());
      items.Finish();
    }
    PrintOperationErrors(operation);
    std::fprintf(stderr, "%s: %ld selected (only checked, nothing changed)\n",
                 operation.kind().c_str(), static_cast<long>(operation.total()));
    return ExitCode::kDone;
  }
  if (invocation.no_wait) {
    std::printf("%s\n", operation.name().c_str());
    return ExitCode::kDone;
  }
  std::fprintf(stderr, "%s: %s\n", operation.name().c_str(), operation.kind().c_str());
  return FollowOperation(client, invocation, std::move(operation), -1);
}

}  // namespace

bool IsBulk(const Invocation& invocation) {
  return invocation.all || !invocation.filter.empty() || !invocation.selector.empty();
}

ExitCode SetMany(ApiClient& client, const Invocation& invocation) {
  const auto noun = FindNoun(invocation.type);
  if (!noun.ok()) {
    return Fail(noun.status());
  }
  v1::UpdateResourcesRequest request;
  if (auto status = Address(invocation, **noun, request); !status.ok()) {
    return Fail(status);
  }
  if (auto status = CheckAssignments(invocation); !status.ok()) {
    return Fail(status);
  }
  const MessagePtr resource = NewResource(**noun);
  if (auto status = ApplyAssignments(invocation.assignments, invocation.farm, *resource,
                                     *request.mutable_update_mask());
      !status.ok()) {
    return Fail(status);
  }
  *request.mutable_resource() = contract::Wrap(*resource);
  request.set_field_manager(invocation.field_manager);
  request.set_force(invocation.force);
  return Start(client, invocation, "UpdateResources", request);
}

ExitCode DeleteMany(ApiClient& client, const Invocation& invocation) {
  const auto noun = FindNoun(invocation.type);
  if (!noun.ok()) {
    return Fail(noun.status());
  }
  v1::DeleteResourcesRequest request;
  if (auto status = Address(invocation, **noun, request); !status.ok()) {
    return Fail(status);
  }
  return Start(client, invocation, "DeleteResources", request);
}

}  // namespace croft::admin_cli
