// apply and diff: resources become what files say.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "admin-cli/diff_text.h"
#include "admin-cli/invocation.h"
#include "admin-cli/manifest.h"
#include "admin-cli/request.h"
#include "croft/v1/resource.pb.h"
#include "proto/base/error.h"
#include "proto/contract/any_resource.h"
#include "proto/contract/errors.h"
#include "proto/contract/text_rules.h"

namespace croft::admin_cli {
namespace {

constexpr std::size_t kResourcesPerChange = 1000;
constexpr auto kCallTimeout = std::chrono::minutes(5);
constexpr const char* kDefaultManager = "apply";

absl::Status CheckOptions(const Invocation& invocation) {
  if (invocation.files.empty()) {
    return Error(absl::StatusCode::kUnimplemented,
                 "{} wants -f FILE, -f DIRECTORY or -f - (stdin): see croft {} --help",
                 invocation.verb, invocation.verb);
  }
  if (!invocation.names.empty() || !invocation.type.empty()) {
    return Error(absl::StatusCode::kUnimplemented, "{} takes its objects from -f, not \"{}\"",
                 invocation.verb, invocation.type.empty() ? invocation.names[0] : invocation.type);
  }
  return absl::OkStatus();
}

// The files' resources; nullopt and the exit code once the problems have been told.
absl::StatusOr<Manifest> Load(const Invocation& invocation) {
  if (auto status = CheckOptions(invocation); !status.ok()) {
    return status;
  }
  auto manifest = LoadManifests(invocation.files, invocation.farm);
  if (!manifest.ok()) {
    return manifest;
  }
  if (!manifest->problems.empty()) {
    for (const std::string& problem : manifest->problems) {
      Say(problem);
    }
    const std::size_t count = manifest->problems.size();
    return Error(absl::StatusCode::kInvalidArgument, "nothing was done: {} {} in the files", count,
                 count == 1 ? "error" : "errors");
  }
  if (manifest->items.empty()) {
    return Error(absl::StatusCode::kInvalidArgument, "there is no resource in the files");
  }
  const std::size_t count = manifest->items.size();
  if (count > kResourcesPerChange && !invocation.prune_selector.empty()) {
    return Error(absl::StatusCode::kResourceExhausted,
                 "{} resources; with --prune-selector at most {} go, all in one change", count,
                 kResourcesPerChange);
  }
  return manifest;
}

// The index in "resources[3].site.bindings[0].host", and where it ends; nullopt if there is none.
std::optional<std::pair<std::size_t, std::size_t>> IndexIn(std::string_view text) {
  constexpr std::string_view kResources = "resources[";
  std::size_t index = 0;
  if (!text.starts_with(kResources)) {
    return std::nullopt;
  }
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + kResources.size(), end, index);
  if (error != std::errc() || rest == end || *rest != ']') {
    return std::nullopt;
  }
  return std::pair(index, static_cast<std::size_t>(rest + 1 - text.data()));
}

// An error as the file's: "shop.yaml:12: bindings[0].host: ...".
absl::Status InFiles(const absl::Status& status, const Manifest& manifest, std::size_t first) {
  const auto item_of = [&](std::size_t index) -> const ManifestItem* {
    const std::size_t at = first + index;
    return at < manifest.items.size() ? &manifest.items[at] : nullptr;
  };
  std::string message(status.message());
  if (const auto index = IndexIn(message); index.has_value() && item_of(index->first) != nullptr) {
    message.replace(0, index->second, item_of(index->first)->place);
  }
  auto detail = contract::FindDetail(status);
  if (!detail.has_value()) {
    return absl::Status(status.code(), message);
  }
  bool located = false;
  for (v1::FieldViolation& violation : *detail->mutable_violations()) {
    const auto index = IndexIn(violation.field());
    const ManifestItem* item = index.has_value() ? item_of(index->first) : nullptr;
    if (item == nullptr) {
      continue;
    }
    std::string path = violation.field().substr(index->second);
    path.erase(0, path.starts_with('.') ? 1 : 0);
    const std::string member = std::string(item->noun->noun) + ".";
    path.erase(0, path.starts_with(member) ? member.size() : 0);
    violation.set_field(item->place + (path.empty() ? "" : ": ") + path);
    located = true;
  }
  // The violations tell it all, each once.
  message = located ? detail->violations(0).field() + ": " + message : message;
  return contract::WithDetail(absl::Status(status.code(), message), *detail);
}

class Application {
 public:
  Application(ApiClient& client, const Invocation& invocation, const Manifest& manifest)
      : client_(client), invocation_(invocation), manifest_(manifest) {}

  // The batch that begins at the index, checked or carried out.
  absl::StatusOr<v1::ApplyResourcesResponse> Send(std::size_t first, bool validate_only) {
    v1::ApplyResourcesRequest request;
    const std::size_t end = std::min(first + kResourcesPerChange, manifest_.items.size());
    for (std::size_t i = first; i < end; ++i) {
      *request.add_resources() = contract::Wrap(*manifest_.items[i].resource);
    }
    request.set_prune_selector(invocation_.prune_selector);
    request.set_expect_pruned(std::max<std::int64_t>(expect_pruned_, 0));
    request.set_validate_only(validate_only);
    request.set_reason(invocation_.reason);
    request.set_field_manager(invocation_.field_manager.empty() ? kDefaultManager
                                                                : invocation_.field_manager);
    request.set_force(invocation_.force);
    if (!invocation_.request_id.empty() && !validate_only) {
      request.set_request_id(first == 0 ? invocation_.request_id
                                        : fmt::format("{}/{}", invocation_.request_id,
                                                      first / kResourcesPerChange + 1));
    }
    v1::ApplyResourcesResponse response;
    const auto status =
        client_.Call("ResourceService/ApplyResources", request, response, kCallTimeout);
    if (!status.ok()) {
      return InFiles(status, manifest_, first);
    }
    return response;
  }

  // Shows what pruning would delete, and has it agreed to; the number for the call that does it.
  absl::Status AgreeToPruning() {
    if (invocation_.prune_selector.empty() || invocation_.validate_only) {
      expect_pruned_ = invocation_.expect_pruned;
      return absl::OkStatus();
    }
    const auto preview = Send(0, true);
    if (!preview.ok()) {
      return preview.status();
    }
    expect_pruned_ = invocation_.expect_pruned;
    std::int64_t count = 0;
    for (const v1::AppliedResource& applied : preview->results()) {
      if (applied.action() == "delete") {
        ++count;
        std::fprintf(stderr, "prunes %s\n", applied.name().c_str());
      }
    }
    if (count == 0 || expect_pruned_ == count) {
      expect_pruned_ = count;
      return absl::OkStatus();
    }
    if (expect_pruned_ >= 0) {
      return Error(absl::StatusCode::kFailedPrecondition,
                   "pruning deletes {}, not {}; nothing was done", count, expect_pruned_);
    }
    return Ask(count);
  }

 private:
  absl::Status Ask(std::int64_t count) {
    const bool reads_stdin = std::find(invocation_.files.begin(), invocation_.files.end(), "-") !=
                             invocation_.files.end();
    if (reads_stdin || ::isatty(STDIN_FILENO) != 1 || ::isatty(STDERR_FILENO) != 1) {
      return Error(absl::StatusCode::kFailedPrecondition,
                   "pruning deletes {}; say --expect-pruned {} if that is meant. Nothing was done",
                   count, count);
    }
    std::fprintf(stderr, "delete %ld? [y/N] ", static_cast<long>(count));
    const int answer = std::getc(stdin);
    if (answer != 'y' && answer != 'Y') {
      return Error(absl::StatusCode::kFailedPrecondition, "not agreed to; nothing was done");
    }
    expect_pruned_ = count;
    return absl::OkStatus();
  }

  ApiClient& client_;
  const Invocation& invocation_;
  const Manifest& manifest_;
  std::int64_t expect_pruned_ = -1;
};

class Report {
 public:
  explicit Report(const Invocation& invocation)
      : invocation_(invocation), items_(invocation.format) {}

  void Add(const v1::ApplyResourcesResponse& response) {
    for (const v1::AppliedResource& applied : response.results()) {
      if (ItemPrinter::Prints(invocation_.format)) {
        items_.Print(applied, applied.name());
      } else {
        Put(FormatApplied(applied, invocation_.validate_only) + "\n");
      }
      if (!applied.action().empty()) {
        changed_.push_back(applied.name());
      }
    }
    created_ += response.counts().created();
    updated_ += response.counts().updated();
    unchanged_ += response.counts().unchanged();
    deleted_ += response.counts().deleted();
    revision_ = std::max(revision_, response.revision());
  }

  void Finish() {
    items_.Finish();
    std::fflush(stdout);
    std::string text =
        fmt::format("{} created, {} updated, {} unchanged", created_, updated_, unchanged_);
    text += deleted_ > 0 ? fmt::format(", {} deleted", deleted_) : "";
    text += invocation_.validate_only ? " (only checked, nothing changed)"
            : revision_ > 0           ? fmt::format(", revision {}", revision_)
                                      : "";
    Say(text);
  }

  std::int64_t revision() const { return revision_; }
  const std::vector<std::string>& changed() const { return changed_; }

 private:
  const Invocation& invocation_;
  ItemPrinter items_;
  std::int64_t created_ = 0, updated_ = 0, unchanged_ = 0, deleted_ = 0, revision_ = 0;
  std::vector<std::string> changed_;
};

// On a terminal that takes colours, what goes in red and what comes in green.
void PrintDiff(const std::string& text) {
  const bool coloured = IsColoured(Stream::kOut);
  for (const std::string_view line : contract::Split(text, '\n')) {
    const bool last = line.data() == text.data() + text.size();
    const char* colour = !coloured || line.empty() ? ""
                         : line[0] == '-'          ? "\033[31m"
                         : line[0] == '+'          ? "\033[32m"
                                                   : "";
    std::fputs(colour, stdout);
    Put(std::string(line) + (last ? "" : "\n"));
    std::fputs(*colour == '\0' ? "" : "\033[m", stdout);
  }
}

void NoticeBatches(std::size_t count, bool only_checked) {
  if (count > kResourcesPerChange) {
    std::fprintf(stderr, "%zu resources: %zu at a time, in %zu %s\n", count, kResourcesPerChange,
                 (count + kResourcesPerChange - 1) / kResourcesPerChange,
                 only_checked ? "checks, each against what there is now" : "changes");
  }
}

}  // namespace

ExitCode ApplyFiles(ApiClient& client, const Invocation& invocation) {
  const auto manifest = Load(invocation);
  if (!manifest.ok()) {
    return Fail(manifest.status());
  }
  Application application(client, invocation, *manifest);
  if (auto status = application.AgreeToPruning(); !status.ok()) {
    return Fail(status);
  }
  const std::size_t count = manifest->items.size();
  NoticeBatches(count, invocation.validate_only);
  Report report(invocation);
  ProgressBar progress("apply", static_cast<std::int64_t>(count));
  for (std::size_t first = 0; first < count; first += kResourcesPerChange) {
    if (count > kResourcesPerChange) {
      progress.Set(static_cast<std::int64_t>(first));
    }
    const auto response = application.Send(first, invocation.validate_only);
    if (!response.ok()) {
      const ExitCode code = Fail(response.status());
      if (first > 0) {
        report.Finish();
      }
      return first > 0 && report.revision() > 0 ? ExitCode::kPartlyDone : code;
    }
    report.Add(*response);
  }
  report.Finish();
  return WaitAfterWrite(client, invocation, report.revision(), report.changed());
}

ExitCode DiffFiles(ApiClient& client, const Invocation& invocation) {
  const auto manifest = Load(invocation);
  if (!manifest.ok()) {
    return Fail(manifest.status());
  }
  Application application(client, invocation, *manifest);
  NoticeBatches(manifest->items.size(), true);
  ItemPrinter items(invocation.format);
  bool differs = false;
  for (std::size_t first = 0; first < manifest->items.size(); first += kResourcesPerChange) {
    const auto response = application.Send(first, true);
    if (!response.ok()) {
      return Fail(response.status());
    }
    for (const v1::AppliedResource& applied : response->results()) {
      if (applied.action().empty()) {
        continue;
      }
      differs = true;
      if (ItemPrinter::Prints(invocation.format)) {
        items.Print(applied, applied.name());
      } else {
        PrintDiff(FormatDiff(applied));
      }
    }
  }
  items.Finish();
  return differs ? ExitCode::kDiffers : ExitCode::kDone;
}

}  // namespace croft::admin_cli
