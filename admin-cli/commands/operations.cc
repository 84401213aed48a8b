// list, get, cancel and wait for operations: long-running work that goes on without its caller.
#include "admin-cli/commands/operations.h"

#include <fmt/format.h>
#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "admin-cli/invocation.h"
#include "admin-cli/subject.h"
#include "proto/base/error.h"

namespace croft::admin_cli {
namespace {

using google::protobuf::util::TimeUtil;

constexpr int kPageSize = 1000;
constexpr std::string_view kOperations = "operations/";
// Between two looks at the progress.
constexpr std::int64_t kLookEveryMs = 500;

bool IsOperation(const std::string& type) { return type == "operation" || type == "operations"; }

std::string OperationName(const std::string& name) {
  return name.starts_with(kOperations) ? name : std::string(kOperations) + name;
}

bool HasEnded(const v1::Operation& operation) {
  return operation.state() == v1::Operation::SUCCEEDED ||
         operation.state() == v1::Operation::FAILED ||
         operation.state() == v1::Operation::CANCELLED;
}

std::vector<std::string> Row(const v1::Operation& operation) {
  return {
      std::string(operation.name()).substr(std::min(kOperations.size(), operation.name().size())),
      operation.kind(),
      v1::Operation::State_Name(operation.state()),
      fmt::format("{}/{}", operation.done(), operation.total()),
      std::to_string(operation.failed()),
      operation.who(),
      TimeUtil::ToString(operation.create_time()),
      operation.message()};
}

ExitCode PrintOperations(const std::vector<v1::Operation>& operations,
                         const Invocation& invocation) {
  const Format format = invocation.format;
  if (ItemPrinter::Prints(format)) {
    ItemPrinter items(format);
    for (const v1::Operation& operation : operations) {
      items.Print(operation, operation.name());
    }
    items.Finish();
    return ExitCode::kDone;
  }
  std::vector<std::vector<std::string>> rows;
  for (const v1::Operation& operation : operations) {
    rows.push_back(Row(operation));
  }
  return PrintTable({"NAME", "KIND", "STATE", "DONE", "FAILED", "WHO", "CREATED", "MESSAGE"}, rows,
                    invocation, "no operation");
}

absl::StatusOr<v1::Operation> CallFor(ApiClient& client, const std::string& method,
                                      const google::protobuf::Message& request) {
  v1::Operation operation;
  auto status = client.Call("OperationService/" + method, request, operation);
  return status.ok() ? absl::StatusOr<v1::Operation>(std::move(operation)) : status;
}

absl::StatusOr<std::string> OneName(const Invocation& invocation) {
  if (!IsOperation(invocation.type) || invocation.names.size() != 1) {
    return Error(absl::StatusCode::kUnimplemented, "{} wants \"operation N\": see croft {} --help",
                 invocation.verb, invocation.verb);
  }
  return OperationName(invocation.names[0]);
}

// What came of it.
ExitCode Judge(const v1::Operation& operation) {
  PrintOperationErrors(operation);
  const std::int64_t good = operation.done() - operation.failed();
  std::fprintf(stderr, "%s: %s, %ld of %ld done, %ld failed%s%s\n", operation.kind().c_str(),
               v1::Operation::State_Name(operation.state()).c_str(), static_cast<long>(good),
               static_cast<long>(operation.total()), static_cast<long>(operation.failed()),
               operation.message().empty() ? "" : ": ", operation.message().c_str());
  if (operation.state() == v1::Operation::SUCCEEDED && operation.failed() == 0) {
    return ExitCode::kDone;
  }
  return good > 0 || operation.state() == v1::Operation::CANCELLED ? ExitCode::kPartlyDone
                                                                   : ExitCode::kInvalid;
}

}  // namespace

void PrintOperationErrors(const v1::Operation& operation) {
  for (const v1::OperationError& error : operation.errors()) {
    Say("  " + error.name() + ": " + error.reason());
  }
  const std::int64_t unnamed = operation.failed() - operation.errors_size();
  if (unnamed > 0) {
    std::fprintf(stderr, "  and %ld more\n", static_cast<long>(unnamed));
  }
}

ExitCode FollowOperation(ApiClient& client, const Invocation& invocation, v1::Operation operation,
                         std::int64_t timeout_ms) {
  using std::chrono::steady_clock;
  const auto deadline = timeout_ms < 0
                            ? steady_clock::time_point::max()
                            : steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  {
    ProgressBar progress(operation.kind(), operation.total());
    while (!HasEnded(operation)) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline - steady_clock::now());
      if (left.count() <= 0) {
        break;
      }
      v1::WaitOperationRequest request;
      request.set_name(operation.name());
      request.set_timeout_ms(std::min<std::int64_t>(left.count(), kLookEveryMs));
      auto now = CallFor(client, "WaitOperation", request);
      if (!now.ok()) {
        std::fprintf(stderr, "%s goes on; croft wait operation %s\n", operation.name().c_str(),
                     operation.name().substr(kOperations.size()).c_str());
        return Fail(now.status());
      }
      operation = *std::move(now);
      progress.Set(operation.done());
    }
  }
  if (ItemPrinter::Prints(invocation.format)) {
    PrintOperations({operation}, invocation);
  }
  if (!HasEnded(operation)) {
    std::fprintf(stderr, "croft: %s has not ended: %ld of %ld done\n", operation.name().c_str(),
                 static_cast<long>(operation.done()), static_cast<long>(operation.total()));
    return ExitCode::kWaitTimedOut;
  }
  const ExitCode code = Judge(operation);
  return code != ExitCode::kDone ? code
                                 : WaitAfterWrite(client, invocation, operation.revision(),
                                                  {"farms/" + invocation.farm + "/"});
}

ExitCode ListOperations(ApiClient& client, const Invocation& invocation) {
  v1::ListOperationsRequest request;
  request.set_running(invocation.running);
  std::vector<v1::Operation> operations;
  const std::size_t limit = static_cast<std::size_t>(invocation.limit > 0 ? invocation.limit : 100);
  while (operations.size() < limit) {
    request.set_page_size(
        static_cast<int>(std::min<std::size_t>(limit - operations.size(), kPageSize)));
    v1::ListOperationsResponse response;
    if (auto status = client.Call("OperationService/ListOperations", request, response);
        !status.ok()) {
      return Fail(status);
    }
    operations.insert(operations.end(), response.operations().begin(), response.operations().end());
    if (response.next_page_token().empty()) {
      break;
    }
    request.set_page_token(response.next_page_token());
  }
  return PrintOperations(operations, invocation);
}

ExitCode GetOperations(ApiClient& client, const Invocation& invocation) {
  if (invocation.names.empty()) {
    return ListOperations(client, invocation);
  }
  std::vector<v1::Operation> operations;
  ExitCode code = ExitCode::kDone;
  for (const std::string& name : invocation.names) {
    v1::GetOperationRequest request;
    request.set_name(OperationName(name));
    auto operation = CallFor(client, "GetOperation", request);
    if (operation.ok()) {
      operations.push_back(*std::move(operation));
    } else {
      code = Fail(operation.status());
    }
  }
  if (!operations.empty()) {
    const ExitCode printed = PrintOperations(operations, invocation);
    code = code == ExitCode::kDone ? printed : code;
  }
  return code != ExitCode::kDone && !operations.empty() ? ExitCode::kPartlyDone : code;
}

ExitCode CancelOperation(ApiClient& client, const Invocation& invocation) {
  const auto name = OneName(invocation);
  if (!name.ok()) {
    return Fail(name.status());
  }
  v1::CancelOperationRequest request;
  request.set_name(*name);
  request.set_validate_only(invocation.validate_only);
  request.set_request_id(invocation.request_id);
  request.set_reason(invocation.reason);
  const auto operation = CallFor(client, "CancelOperation", request);
  if (!operation.ok()) {
    return Fail(operation.status());
  }
  if (ItemPrinter::Prints(invocation.format)) {
    PrintOperations({*operation}, invocation);
  }
  std::fprintf(stderr, "%s %s\n", name->c_str(),
               HasEnded(*operation) ? "has ended" : "ends after the batch under way");
  return ExitCode::kDone;
}

ExitCode WaitForOperation(ApiClient& client, const Invocation& invocation) {
  const auto name = OneName(invocation);
  if (!name.ok()) {
    return Fail(name.status());
  }
  v1::GetOperationRequest request;
  request.set_name(*name);
  auto operation = CallFor(client, "GetOperation", request);
  return operation.ok()
             ? FollowOperation(client, invocation, *std::move(operation), invocation.timeout_ms)
             : Fail(operation.status());
}

}  // namespace croft::admin_cli
