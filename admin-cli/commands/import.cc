// croft import TYPE FILE: rows stream to control in batches; each row succeeds or fails by itself.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "admin-cli/import_rows.h"
#include "admin-cli/invocation.h"
#include "proto/base/error.h"
#include "proto/base/freed_by.h"

namespace croft::admin_cli {
namespace {

constexpr int kRowsPerMessage = 2000;
constexpr std::size_t kMessageBytes = 1024 * 1024;
// Errors shown where a file has them all.
constexpr std::int64_t kShownWithFile = 20;

using FilePtr = std::unique_ptr<std::FILE, FreedBy<std::fclose>>;

// What came of the rows so far; each failed one is told at once. Fail is for both threads, the one
// that reads rows and the one that reads answers, which alone calls the others.
class Tally {
 public:
  Tally(std::string source, std::string_view noun, FilePtr errors)
      : source_(std::move(source)), member_(std::string(noun) + "."), errors_(std::move(errors)) {
    if (errors_ != nullptr) {
      std::fputs("line,field,reason\n", errors_.get());
    }
  }

  void Fail(const v1::ImportRowError& error) {
    const std::int64_t failed = ++failed_;
    const std::string field = error.field().empty() ? "" : error.field() + ": ";
    if (errors_ != nullptr) {
      std::fprintf(errors_.get(), "%ld,%s,%s\n", static_cast<long>(error.line()),
                   Quoted(error.field()).c_str(), Quoted(error.reason()).c_str());
    }
    if (errors_ == nullptr || failed <= kShownWithFile) {
      admin_cli::Say(fmt::format("{}:{}: {}{}", source_, error.line(), field, error.reason()));
    } else if (failed == kShownWithFile + 1) {
      std::fprintf(stderr, "more errors are in the file of --errors\n");
    }
  }

  void Add(const v1::ImportResourcesResponse& response) {
    counts_.set_created(counts_.created() + response.counts().created());
    counts_.set_updated(counts_.updated() + response.counts().updated());
    counts_.set_unchanged(counts_.unchanged() + response.counts().unchanged());
    revision_ = std::max(revision_, response.revision());
    for (v1::ImportRowError error : response.errors()) {
      // The type is the file's: "account.name" is its column "name".
      const bool has_type = error.field().starts_with(member_);
      error.set_field(error.field().substr(has_type ? member_.size() : 0));
      Fail(error);
    }
  }

  std::int64_t good() const { return counts_.created() + counts_.updated() + counts_.unchanged(); }
  std::int64_t failed() const { return failed_; }
  std::int64_t revision() const { return revision_; }

  void Say(bool only_checked) const {
    std::fprintf(stderr, "%ld created, %ld updated, %ld unchanged, %ld refused%s\n",
                 static_cast<long>(counts_.created()), static_cast<long>(counts_.updated()),
                 static_cast<long>(counts_.unchanged()), static_cast<long>(failed()),
                 only_checked ? " (only checked, nothing changed)" : "");
  }

 private:
  static std::string Quoted(const std::string& text) {
    std::string quoted = "\"";
    for (const char c : text) {
      quoted += c == '"' ? "\"\"" : std::string(1, c);
    }
    return text.find_first_of(",\"\n\r") == std::string::npos ? text : quoted + '"';
  }

  const std::string source_;
  const std::string member_;  // "account."
  const FilePtr errors_;
  v1::Counts counts_;
  std::atomic<std::int64_t> failed_ = 0;
  std::int64_t revision_ = 0;
};

bool EndsWithAny(const std::string& path, std::initializer_list<const char*> endings) {
  return std::any_of(endings.begin(), endings.end(),
                     [&](const char* ending) { return path.ends_with(ending); });
}

// By the name's ending, otherwise by the first letter.
RowFormat FormatOf(const std::string& path, std::istream& input) {
  if (EndsWithAny(path, {".csv"})) {
    return RowFormat::kCsv;
  }
  return EndsWithAny(path, {".jsonl", ".ndjson", ".json"}) || input.peek() == '{'
             ? RowFormat::kJsonLines
             : RowFormat::kCsv;
}

// Lines of a file, for the bar; 0 where nobody sees one.
std::int64_t CountLines(const std::string& path) {
  if (path == "-" || ::isatty(STDERR_FILENO) != 1) {
    return 0;
  }
  std::ifstream file(path, std::ios::binary);
  std::vector<char> part(1 << 20);
  std::int64_t lines = 0;
  while (file.read(part.data(), static_cast<std::streamsize>(part.size())), file.gcount() > 0) {
    lines += std::count(part.begin(), part.begin() + file.gcount(), '\n');
  }
  return lines;
}

// The next message's rows, called from the sending thread; false at the end.
class MessageSource {
 public:
  MessageSource(RowReader& rows, const Invocation& invocation, Tally& tally)
      : rows_(rows), invocation_(invocation), tally_(tally) {}

  bool Next(v1::ImportResourcesRequest& request) {
    if (first_) {
      request.set_validate_only(invocation_.validate_only);
      request.set_reason(invocation_.reason);
      request.set_field_manager(invocation_.field_manager);
      request.set_force(invocation_.force);
    }
    std::size_t bytes = 0;
    v1::ImportRowError problem;
    while (request.rows_size() < kRowsPerMessage && bytes < kMessageBytes) {
      v1::ImportRow& row = *request.add_rows();
      const RowReader::Outcome outcome = rows_.Next(row, problem);
      if (outcome == RowReader::Outcome::kRow) {
        bytes += row.ByteSizeLong();
        continue;
      }
      request.mutable_rows()->RemoveLast();
      if (outcome == RowReader::Outcome::kEnd) {
        break;
      }
      tally_.Fail(problem);
    }
    const bool any = request.rows_size() > 0;
    first_ = first_ && !any;
    return any;
  }

 private:
  RowReader& rows_;
  const Invocation& invocation_;
  Tally& tally_;
  bool first_ = true;
};

struct Source {
  std::ifstream file;
  std::istream* input = nullptr;
  FilePtr errors;
};

absl::Status Open(const Invocation& invocation, Source& source) {
  const std::string& path = invocation.names[0];
  source.input = &std::cin;
  if (path != "-") {
    source.file.open(path, std::ios::binary);
    source.input = &source.file;
    std::error_code error;
    if (!source.file || std::filesystem::is_directory(path, error)) {
      return Error(absl::StatusCode::kInvalidArgument, "cannot read {}", path);
    }
  }
  if (!invocation.errors_file.empty()) {
    source.errors.reset(std::fopen(invocation.errors_file.c_str(), "we"));
    if (source.errors == nullptr) {
      return ErrnoError("--errors {}", invocation.errors_file);
    }
  }
  return absl::OkStatus();
}

// Shows how far it is, and is done with that when it returns.
absl::Status SendRows(ApiClient& client, const Invocation& invocation, RowReader& rows,
                      Tally& tally) {
  ProgressBar progress("import", CountLines(invocation.names[0]));
  MessageSource source(rows, invocation, tally);
  return client.ImportResources(
      [&](v1::ImportResourcesRequest& request) { return source.Next(request); },
      [&](const v1::ImportResourcesResponse& response) {
        tally.Add(response);
        progress.Set(tally.good() + tally.failed());
      });
}

}  // namespace

ExitCode ImportFile(ApiClient& client, const Invocation& invocation) {
  if (invocation.names.size() != 1) {
    return Fail(Error(absl::StatusCode::kUnimplemented,
                      "import wants a type and a file (accounts people.csv), or - for stdin: see "
                      "croft import --help"));
  }
  const auto noun = FindNoun(invocation.type);
  if (!noun.ok()) {
    return Fail(noun.status());
  }
  Source source;
  if (auto status = Open(invocation, source); !status.ok()) {
    return Fail(status);
  }
  const std::string& path = invocation.names[0];
  RowReader rows(*source.input, **noun, invocation.farm, FormatOf(path, *source.input));
  if (auto status = rows.Open(); !status.ok()) {
    return Fail(status);
  }
  Tally tally(path == "-" ? "stdin" : path, (*noun)->noun, std::move(source.errors));
  const auto status = SendRows(client, invocation, rows, tally);
  tally.Say(invocation.validate_only);
  if (!status.ok()) {
    std::fprintf(stderr, "croft: the import ended early; run it again, what exists stays\n");
    return Fail(status);
  }
  if (tally.failed() > 0) {
    return tally.good() > 0 ? ExitCode::kPartlyDone : ExitCode::kInvalid;
  }
  return WaitAfterWrite(client, invocation, tally.revision(), {"farms/" + invocation.farm + "/"});
}

}  // namespace croft::admin_cli
