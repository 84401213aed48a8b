// create, set, label, delete, undelete: the same for every noun, of one object or of many.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>

#include "admin-cli/assignments.h"
#include "admin-cli/invocation.h"
#include "admin-cli/request.h"
#include "admin-cli/resource_printer.h"
#include "croft/v1/operator.pb.h"
#include "proto/base/error.h"
#include "proto/contract/errors.h"

namespace croft::admin_cli {
namespace {

constexpr int kEtagRetries = 5;
// Of more objects each is not told of, but counted.
constexpr std::size_t kToldMax = 20;

absl::Status WantNames(const Invocation& invocation, std::size_t least) {
  if (invocation.names.size() >= least) {
    return absl::OkStatus();
  }
  return Error(absl::StatusCode::kUnimplemented,
               "{} {} wants one or more names: see croft {} --help", invocation.verb,
               invocation.type, invocation.verb);
}

std::string FarmFor(const std::string& full_name, const Invocation& invocation) {
  const std::string farm = FarmOf(full_name);
  return farm.empty() ? invocation.farm : farm;
}

// The object as it is, to be changed; with --replace one that has nothing but its name.
absl::StatusOr<MessagePtr> Before(ApiClient& client, const Invocation& invocation, const Noun& noun,
                                  const std::string& name) {
  MessagePtr resource = NewResource(noun);
  if (invocation.replace) {
    SetString(*resource, "name", name);
    return resource;
  }
  const MessagePtr request = NewRequest("Get", noun);
  SetString(*request, "name", name);
  const absl::Status status = client.Call(MethodOf("Get", noun), *request, *resource);
  if (absl::IsDataLoss(status)) {
    return Error(absl::StatusCode::kDataLoss, "{} (croft set {} {} --replace key=value ...)",
                 std::string(status.message()), noun.noun, name);
  }
  if (!status.ok()) {
    return status;
  }
  return resource;
}

absl::StatusOr<MessagePtr> Send(ApiClient& client, const Noun& noun, std::string_view method,
                                const google::protobuf::Message& request) {
  MessagePtr answer = NewResource(noun);
  if (auto status = client.Call(MethodOf(method, noun), request, *answer); !status.ok()) {
    return status;
  }
  return answer;
}

// Reads, changes and writes back under the etag read; another writer in between means once more,
// unless the operator named an etag.
absl::StatusOr<MessagePtr> Change(ApiClient& client, const Invocation& invocation, const Noun& noun,
                                  const std::string& name) {
  for (int attempt = 1;; ++attempt) {
    auto resource = Before(client, invocation, noun, name);
    if (!resource.ok()) {
      return resource;
    }
    if (!invocation.if_etag.empty()) {
      SetString(**resource, "etag", invocation.if_etag);
    }
    google::protobuf::FieldMask mask;
    if (auto status =
            ApplyAssignments(invocation.assignments, FarmFor(name, invocation), **resource, mask);
        !status.ok()) {
      return status;
    }
    const MessagePtr request = NewRequest("Update", noun);
    SetResource(*request, noun, **resource);
    SetMask(*request, "update_mask",
            invocation.replace
                ? std::vector<std::string>{"*"}
                : std::vector<std::string>(mask.paths().begin(), mask.paths().end()));
    SetWriteOptions(*request, invocation);
    auto answer = Send(client, noun, "Update", *request);
    if (!absl::IsAborted(answer.status()) || !invocation.if_etag.empty() ||
        attempt == kEtagRetries) {
      return answer;
    }
  }
}

absl::StatusOr<MessagePtr> Delete(ApiClient& client, const Invocation& invocation, const Noun& noun,
                                  const std::string& name) {
  const MessagePtr request = NewRequest("Delete", noun);
  SetString(*request, "name", name);
  SetString(*request, "etag", invocation.if_etag);
  SetBool(*request, "allow_missing", invocation.ignore_missing);
  SetWriteOptions(*request, invocation);
  return Send(client, noun, "Delete", *request);
}

absl::StatusOr<MessagePtr> Undelete(ApiClient& client, const Invocation& invocation,
                                    const Noun& noun, const std::string& name) {
  const MessagePtr request = NewRequest("Undelete", noun);
  SetString(*request, "name", name);
  request->GetReflection()->SetInt64(
      request.get(), request->GetDescriptor()->FindFieldByName("uid"), invocation.uid);
  SetWriteOptions(*request, invocation);
  auto answer = Send(client, noun, "Undelete", *request);
  if (absl::IsNotFound(answer.status()) && invocation.ignore_missing) {
    return NewResource(noun);
  }
  return answer;
}

// "created=1" -> "created"; what control does not count is called `otherwise`.
std::string Outcome(const std::string& counts, std::string_view otherwise) {
  const std::string word = counts.substr(0, counts.find('='));
  return word.empty() ? std::string(otherwise) : word;
}

// Says what became of one object; a table says it on stderr.
void Tell(const Invocation& invocation, const Noun& noun, const google::protobuf::Message& resource,
          const std::string& name, const std::string& outcome) {
  if (invocation.format != Format::kTable) {
    ResourcePrinter(noun, invocation.format).PrintOne(resource);
    return;
  }
  if (const auto* token = dynamic_cast<const v1::Token*>(&resource);
      token != nullptr && !token->secret().empty()) {
    // Alone on stdout, so that "croft create token ci > token" is a token file.
    std::printf("%s\n", token->secret().c_str());
  }
  const std::int64_t revision = RevisionOf(resource);
  Say(fmt::format("{} {} {}{}{}", noun.noun, name, outcome,
                  invocation.validate_only ? " (only checked, nothing changed)" : "",
                  revision == 0 ? "" : fmt::format(", revision {}", revision)));
}

using Step = absl::StatusOr<MessagePtr> (*)(ApiClient& client, const Invocation& invocation,
                                            const Noun& noun, const std::string& name);

// One write for each name.
class Writes {
 public:
  Writes(ApiClient& client, const Invocation& invocation)
      : client_(client), invocation_(invocation) {}

  // `otherwise`: what an object is where control does not say what it did.
  ExitCode Run(const Noun& noun, Step step, std::string_view otherwise) {
    const std::size_t count = invocation_.names.size();
    ProgressBar bar(invocation_.verb, static_cast<std::int64_t>(count));
    for (std::size_t i = 0; i < count; ++i) {
      One(noun, FullName(noun, invocation_.names[i], invocation_.farm), step, otherwise);
      if (count > kToldMax) {
        bar.Set(static_cast<std::int64_t>(i + 1));
      }
    }
    return Finish();
  }

 private:
  void One(const Noun& noun, const std::string& name, Step step, std::string_view otherwise) {
    const auto answer = step(client_, invocation_, noun, name);
    if (!answer.ok()) {
      code_ = Fail(answer.status());
      ++failed_;
      return;
    }
    const std::string outcome = TextOf(**answer, "name").empty() ? "missing"
                                : step == Undelete
                                    ? std::string(otherwise)  // control counts a creation
                                    : Outcome(client_.counts(), otherwise);
    ++outcomes_[outcome];
    if (invocation_.names.size() <= kToldMax || invocation_.format != Format::kTable) {
      Tell(invocation_, noun, **answer, name, outcome);
    }
    revision_ = std::max(revision_, RevisionOf(**answer));
    written_.push_back(name);
  }

  ExitCode Finish() {
    if (invocation_.names.size() > 1) {
      std::string summary;
      for (const auto& [outcome, count] : outcomes_) {
        summary += fmt::format("{}{} {}", summary.empty() ? "" : ", ", count, outcome);
      }
      if (failed_ > 0) {
        summary += fmt::format("{}{} failed", summary.empty() ? "" : ", ", failed_);
      }
      Say(summary + (invocation_.validate_only ? " (only checked, nothing changed)" : ""));
    }
    if (failed_ > 0) {
      return failed_ < invocation_.names.size() ? ExitCode::kPartlyDone : code_;
    }
    return WaitAfterWrite(client_, invocation_, revision_, written_);
  }

  ApiClient& client_;
  const Invocation& invocation_;
  std::map<std::string, std::size_t> outcomes_;
  std::vector<std::string> written_;
  std::size_t failed_ = 0;
  std::int64_t revision_ = 0;
  ExitCode code_ = ExitCode::kDone;
};

ExitCode WriteEach(ApiClient& client, const Invocation& invocation, Step step,
                   std::string_view otherwise) {
  const auto noun = FindNoun(invocation.type);
  if (!noun.ok()) {
    return Fail(noun.status());
  }
  if (auto status = WantNames(invocation, 1); !status.ok()) {
    return Fail(status);
  }
  return Writes(client, invocation).Run(**noun, step, otherwise);
}

absl::StatusOr<MessagePtr> Create(ApiClient& client, const Invocation& invocation, const Noun& noun,
                                  const std::string& name) {
  const MessagePtr resource = NewResource(noun);
  google::protobuf::FieldMask mask;
  if (auto status =
          ApplyAssignments(invocation.assignments, FarmFor(name, invocation), *resource, mask);
      !status.ok()) {
    return status;
  }
  const MessagePtr request = NewRequest("Create", noun);
  if (contract::Facts(noun.type).in_farm) {
    SetString(*request, "parent", "farms/" + FarmFor(name, invocation));
  }
  SetString(*request, std::string(noun.noun) + "_id", std::string(ShortName(name)));
  SetResource(*request, noun, *resource);
  SetBool(*request, "if_absent", invocation.if_absent);
  SetWriteOptions(*request, invocation);
  return Send(client, noun, "Create", *request);
}

}  // namespace

ExitCode CreateResource(ApiClient& client, const Invocation& invocation) {
  const auto noun = FindNoun(invocation.type);
  if (!noun.ok()) {
    return Fail(noun.status());
  }
  if (invocation.names.size() != 1) {
    return Fail(Error(absl::StatusCode::kUnimplemented,
                      "create {} wants one name: see croft create --help", invocation.type));
  }
  const std::string& name = invocation.names[0];
  const auto parsed =
      contract::ParseResourceName(FullName(**noun, name, invocation.farm), (*noun)->type);
  if (!parsed.ok() && name.find('/') != std::string::npos) {
    return Fail(parsed.status());  // a full name, or what looks like one: "a/b"
  }
  return Writes(client, invocation).Run(**noun, Create, "created");
}

ExitCode SetResource(ApiClient& client, const Invocation& invocation) {
  const auto noun = FindNoun(invocation.type);
  if (!noun.ok()) {
    return Fail(noun.status());
  }
  if (invocation.assignments.empty()) {
    return Fail(Error(absl::StatusCode::kUnimplemented,
                      "{} wants at least one key=value: see croft {} --help", invocation.verb,
                      invocation.verb));
  }
  if (invocation.names.empty() && (*noun)->type == contract::ResourceType::kPlatform) {
    Invocation named = invocation;
    named.names = {"platform"};
    return WriteEach(client, named, Change, "updated");
  }
  return WriteEach(client, invocation, Change, "updated");
}

ExitCode LabelResources(ApiClient& client, const Invocation& invocation) {
  Invocation set = invocation;
  for (std::string& assignment : set.assignments) {
    assignment.insert(0, "labels.");
  }
  return IsBulk(set) ? SetMany(client, set) : SetResource(client, set);
}

ExitCode DeleteResources(ApiClient& client, const Invocation& invocation) {
  return WriteEach(client, invocation, Delete, "deleted");
}

ExitCode UndeleteResources(ApiClient& client, const Invocation& invocation) {
  return WriteEach(client, invocation, Undelete, "undeleted");
}

}  // namespace croft::admin_cli
