// list, get, create, set, delete: the same for every noun.
#include <algorithm>
#include <cstdio>

#include "admin-cli/assignments.h"
#include "admin-cli/invocation.h"
#include "admin-cli/request.h"
#include "croft/v1/operator.pb.h"
#include "proto/base/error.h"
#include "proto/contract/errors.h"

namespace croft::admin_cli {
namespace {

constexpr int kPageSize = 1000;
constexpr int kEtagRetries = 5;

absl::Status WantNames(const Invocation& invocation, std::size_t least, std::size_t most) {
  const std::size_t count = invocation.names.size();
  if (count >= least && count <= most) {
    return absl::OkStatus();
  }
  return Error(absl::StatusCode::kUnimplemented, "{} {} wants {}: see croft {} --help",
               invocation.verb, invocation.type, most == 1 ? "one name" : "one or more names",
               invocation.verb);
}

absl::StatusOr<MessagePtr> Fetch(ApiClient& client, const Noun& noun, const std::string& name) {
  const MessagePtr request = NewRequest("Get", noun);
  SetString(*request, "name", name);
  MessagePtr resource = NewResource(noun);
  if (auto status = client.Call(MethodOf("Get", noun), *request, *resource); !status.ok()) {
    return status;
  }
  return resource;
}

std::vector<MessagePtr> TakePage(google::protobuf::Message& response) {
  const auto* descriptor = response.GetDescriptor();
  const auto* list = descriptor->FindFieldByNumber(1);
  std::vector<MessagePtr> page;
  const auto* reflection = response.GetReflection();
  for (int i = 0; i < reflection->FieldSize(response, list); ++i) {
    const auto& item = reflection->GetRepeatedMessage(response, list, i);
    page.emplace_back(item.New());
    page.back()->CopyFrom(item);
  }
  return page;
}

std::string FarmFor(const std::string& full_name, const Invocation& invocation) {
  const std::string farm = FarmOf(full_name);
  return farm.empty() ? invocation.farm : farm;
}

// The object as it is, to be changed; with --replace one that has nothing but its name.
absl::StatusOr<MessagePtr> Before(ApiClient& client, const Invocation& invocation, const Noun& noun,
                                  const std::string& name) {
  if (!invocation.replace) {
    auto resource = Fetch(client, noun, name);
    if (absl::IsDataLoss(resource.status())) {
      return Error(absl::StatusCode::kDataLoss, "{} (croft set {} {} --replace key=value ...)",
                   std::string(resource.status().message()), noun.noun, name);
    }
    return resource;
  }
  MessagePtr empty = NewResource(noun);
  SetString(*empty, "name", name);
  return empty;
}

// Reads, changes and writes back under the etag read; another writer in between means once more,
// unless the operator named an etag.
absl::StatusOr<MessagePtr> Change(ApiClient& client, const Invocation& invocation, const Noun& noun,
                                  const std::string& name) {
  absl::Status status;
  for (int attempt = 0; attempt < kEtagRetries; ++attempt) {
    auto resource = Before(client, invocation, noun, name);
    if (!resource.ok()) {
      return resource;
    }
    if (!invocation.if_etag.empty()) {
      SetString(**resource, "etag", invocation.if_etag);
    }
    google::protobuf::FieldMask mask;
    status = ApplyAssignments(invocation.assignments, FarmFor(name, invocation), **resource, mask);
    if (!status.ok()) {
      return status;
    }
    if (invocation.replace) {
      mask.Clear();
      mask.add_paths("*");
    }
    const MessagePtr request = NewRequest("Update", noun);
    SetResource(*request, noun, **resource);
    const auto* mask_field = request->GetDescriptor()->FindFieldByName("update_mask");
    request->GetReflection()->MutableMessage(request.get(), mask_field)->CopyFrom(mask);
    SetWriteOptions(*request, invocation);
    MessagePtr answer = NewResource(noun);
    status = client.Call(MethodOf("Update", noun), *request, *answer);
    if (status.ok()) {
      return answer;
    }
    if (!absl::IsAborted(status) || !invocation.if_etag.empty()) {
      return status;
    }
  }
  return status;
}

void Said(const Invocation& invocation, const Noun& noun, const google::protobuf::Message& resource,
          std::string_view done) {
  if (invocation.format != Format::kTable) {
    ResourcePrinter(noun, invocation.format).PrintOne(resource);
    return;
  }
  if (const auto* token = dynamic_cast<const v1::Token*>(&resource);
      token != nullptr && !token->secret().empty()) {
    // Alone on stdout, so that "croft create token ci > token" is a token file.
    std::printf("%s\n", token->secret().c_str());
  }
  std::fprintf(stderr, "%s %s %s%s, revision %ld\n", std::string(noun.noun).c_str(),
               TextOf(resource, "name").c_str(), std::string(done).c_str(),
               invocation.validate_only ? " (only checked, nothing changed)" : "",
               static_cast<long>(RevisionOf(resource)));
}

}  // namespace

ExitCode Fail(const absl::Status& status) {
  PrintError(status);
  return ExitCodeOf(status);
}

ExitCode ListResources(ApiClient& client, const Invocation& invocation) {
  const auto noun = FindNoun(invocation.type);
  if (!noun.ok()) {
    return Fail(noun.status());
  }
  if (!invocation.names.empty() || (*noun)->type == contract::ResourceType::kPlatform) {
    return GetResources(client, invocation);
  }
  const MessagePtr request = NewRequest("List", **noun);
  if (contract::Facts((*noun)->type).in_farm) {
    SetString(*request, "parent", "farms/" + invocation.farm);
  }
  request->GetReflection()->SetInt32(
      request.get(), request->GetDescriptor()->FindFieldByName("page_size"), kPageSize);
  const MessagePtr response =
      NewMessage("croft.v1.List" + std::string((*noun)->method) + "sResponse");
  ResourcePrinter printer(**noun, invocation.format, invocation.farm == "-");
  for (;;) {
    response->Clear();
    if (auto status = client.Call(MethodOf("List", **noun), *request, *response); !status.ok()) {
      return Fail(status);
    }
    printer.Print(TakePage(*response));
    const std::string token = TextOf(*response, "next_page_token");
    if (token.empty()) {
      break;
    }
    SetString(*request, "page_token", token);
  }
  printer.Finish();
  return ExitCode::kDone;
}

ExitCode GetResources(ApiClient& client, const Invocation& invocation) {
  const auto noun = FindNoun(invocation.type);
  if (!noun.ok()) {
    return Fail(noun.status());
  }
  if (invocation.names.empty() && (*noun)->type != contract::ResourceType::kPlatform) {
    return ListResources(client, invocation);
  }
  std::vector<std::string> names = invocation.names;
  if (names.empty()) {
    names.emplace_back("platform");
  }
  ResourcePrinter printer(**noun, invocation.format);
  std::vector<MessagePtr> found;
  ExitCode code = ExitCode::kDone;
  for (const std::string& name : names) {
    auto resource = Fetch(client, **noun, FullName(**noun, name, invocation.farm));
    if (!resource.ok()) {
      code = Fail(resource.status());
      continue;
    }
    found.push_back(*std::move(resource));
  }
  if (found.size() == 1 && names.size() == 1) {
    printer.PrintOne(*found[0]);
  } else {
    printer.Print(found);
    if (!found.empty() || ItemPrinter::Prints(invocation.format)) {
      printer.Finish();
    }
  }
  return code != ExitCode::kDone && !found.empty() ? ExitCode::kPartlyDone : code;
}

ExitCode CreateResource(ApiClient& client, const Invocation& invocation) {
  const auto noun = FindNoun(invocation.type);
  if (!noun.ok()) {
    return Fail(noun.status());
  }
  if (auto status = WantNames(invocation, 1, 1); !status.ok()) {
    return Fail(status);
  }
  const MessagePtr resource = NewResource(**noun);
  google::protobuf::FieldMask mask;
  const std::string full = FullName(**noun, invocation.names[0], invocation.farm);
  const auto parsed = contract::ParseResourceName(full, (*noun)->type);
  if (!parsed.ok() && full == invocation.names[0]) {
    return Fail(parsed.status());  // a full name, or what looks like one: "a/b"
  }
  if (auto status =
          ApplyAssignments(invocation.assignments, FarmFor(full, invocation), *resource, mask);
      !status.ok()) {
    return Fail(status);
  }
  const MessagePtr request = NewRequest("Create", **noun);
  if (contract::Facts((*noun)->type).in_farm) {
    SetString(*request, "parent", "farms/" + FarmFor(full, invocation));
  }
  SetString(*request, std::string((*noun)->noun) + "_id", std::string(ShortName(full)));
  admin_cli::SetResource(*request, **noun, *resource);
  SetWriteOptions(*request, invocation);
  const MessagePtr answer = NewResource(**noun);
  if (auto status = client.Call(MethodOf("Create", **noun), *request, *answer); !status.ok()) {
    return Fail(status);
  }
  Said(invocation, **noun, *answer, "created");
  return WaitAfterWrite(client, invocation, RevisionOf(*answer), {TextOf(*answer, "name")});
}

ExitCode SetResource(ApiClient& client, const Invocation& invocation) {
  const auto noun = FindNoun(invocation.type);
  if (!noun.ok()) {
    return Fail(noun.status());
  }
  const bool platform = (*noun)->type == contract::ResourceType::kPlatform;
  if (auto status = WantNames(invocation, platform ? 0 : 1, 1); !status.ok()) {
    return Fail(status);
  }
  if (invocation.assignments.empty()) {
    return Fail(Error(absl::StatusCode::kUnimplemented,
                      "set wants at least one key=value: see croft set --help"));
  }
  const std::string name = invocation.names.empty() ? "platform" : invocation.names[0];
  const auto answer = Change(client, invocation, **noun, FullName(**noun, name, invocation.farm));
  if (!answer.ok()) {
    return Fail(answer.status());
  }
  Said(invocation, **noun, **answer, "updated");
  return WaitAfterWrite(client, invocation, RevisionOf(**answer), {TextOf(**answer, "name")});
}

ExitCode DeleteResources(ApiClient& client, const Invocation& invocation) {
  const auto noun = FindNoun(invocation.type);
  if (!noun.ok()) {
    return Fail(noun.status());
  }
  if (auto status = WantNames(invocation, 1, invocation.names.size()); !status.ok()) {
    return Fail(status);
  }
  std::int64_t revision = 0;
  std::vector<std::string> deleted;
  std::size_t failed = 0;
  ExitCode code = ExitCode::kDone;
  for (const std::string& name : invocation.names) {
    const MessagePtr request = NewRequest("Delete", **noun);
    SetString(*request, "name", FullName(**noun, name, invocation.farm));
    SetString(*request, "etag", invocation.if_etag);
    SetWriteOptions(*request, invocation);
    const MessagePtr answer = NewResource(**noun);
    if (auto status = client.Call(MethodOf("Delete", **noun), *request, *answer); !status.ok()) {
      code = Fail(status);
      ++failed;
      continue;
    }
    Said(invocation, **noun, *answer, "deleted");
    revision = std::max(revision, RevisionOf(*answer));
    deleted.push_back(TextOf(*answer, "name"));
  }
  if (failed > 0) {
    return failed < invocation.names.size() ? ExitCode::kPartlyDone : code;
  }
  return WaitAfterWrite(client, invocation, revision, deleted);
}

}  // namespace croft::admin_cli
