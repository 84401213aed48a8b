// croft import accounts FILE.csv: rows stream to control in batches; each row succeeds or fails by
// itself.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "admin-cli/csv.h"
#include "admin-cli/invocation.h"
#include "croft/v1/account.pb.h"
#include "proto/base/error.h"
#include "proto/base/guarded.h"

namespace croft::admin_cli {
namespace {

constexpr int kRowsPerRequest = 1000;
// Of a header's cell, in an error.
constexpr std::size_t kShownBytes = 60;

// Position of each known column in the file, from its header line.
struct Columns {
  int name = -1, organization = -1, store = -1, state = -1;
};

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

absl::StatusOr<Columns> ReadHeader(CsvReader& reader) {
  const auto header = reader.Next();
  if (!header.has_value()) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "the file is empty; its first line names the "
                 "columns: name,organization,store,state");
  }
  if (!header->problem.empty()) {
    return Error(absl::StatusCode::kInvalidArgument, "line {}: {}", header->line, header->problem);
  }
  Columns columns;
  const std::map<std::string, int*> known = {{"name", &columns.name},
                                             {"organization", &columns.organization},
                                             {"store", &columns.store},
                                             {"state", &columns.state}};
  for (std::size_t i = 0; i < header->fields.size(); ++i) {
    const auto at = known.find(Lower(header->fields[i]));
    if (at == known.end() || *at->second >= 0) {
      return Error(absl::StatusCode::kInvalidArgument,
                   "line {}: column \"{}\" is {}; the columns are name, organization, store, "
                   "state, with commas between them",
                   header->line, header->fields[i].substr(0, kShownBytes),
                   at == known.end() ? "unknown" : "repeated");
    }
    *at->second = static_cast<int>(i);
  }
  if (columns.name < 0) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "line {}: no column \"name\"; the first line names the columns", header->line);
  }
  return columns;
}

struct Tally {
  std::int64_t created = 0, unchanged = 0, revision = 0;
  std::vector<v1::ImportRowError> errors;
};

v1::ImportRowError RowError(std::int64_t line, const std::string& field,
                            const std::string& reason) {
  v1::ImportRowError error;
  error.set_line(line);
  error.set_field(field);
  error.set_reason(reason);
  return error;
}

std::string Cell(const CsvRecord& record, int column) {
  return column < 0 || static_cast<std::size_t>(column) >= record.fields.size()
             ? ""
             : record.fields[static_cast<std::size_t>(column)];
}

// The row, or what is wrong with it as far as the file alone tells.
absl::StatusOr<v1::ImportAccountRow> ToRow(const CsvRecord& record, const Columns& columns,
                                           const std::string& farm, v1::ImportRowError& error) {
  const auto bad = [&](const std::string& field, const std::string& reason) {
    error = RowError(record.line, field, reason);
    return absl::InvalidArgumentError(reason);
  };
  if (!record.problem.empty()) {
    return bad("", record.problem);
  }
  const std::size_t wanted = static_cast<std::size_t>(
      std::max({columns.name, columns.organization, columns.store, columns.state}) + 1);
  if (record.fields.size() != wanted) {
    return bad("", "has " + std::to_string(record.fields.size()) + " values, the header names " +
                       std::to_string(wanted));
  }
  v1::ImportAccountRow row;
  row.set_line(record.line);
  row.set_account_id(Cell(record, columns.name));
  std::string organization = Cell(record, columns.organization);
  if (!organization.empty() && organization.find('/') == std::string::npos) {
    organization = "organizations/" + organization;
  }
  row.set_organization(organization);
  std::string store = Cell(record, columns.store);
  if (!store.empty() && store.find('/') == std::string::npos) {
    store = "farms/" + farm + "/stores/" + store;
  }
  row.set_store(store);
  std::string state = Cell(record, columns.state);
  std::transform(state.begin(), state.end(), state.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  v1::AccountState parsed = v1::ACTIVE;
  if (!state.empty() && !v1::AccountState_Parse(state, &parsed)) {
    return bad("state", "\"" + state + "\" is no state; use ACTIVE or SUSPENDED");
  }
  row.set_state(parsed);
  return row;
}

// The file's word for a field of the API.
std::string ColumnOf(const std::string& field) {
  return field.empty() ? "-" : field == "account_id" ? "name" : field;
}

void PrintErrors(std::vector<v1::ImportRowError>& errors, Format format) {
  ItemPrinter printer(format);
  for (v1::ImportRowError& error : errors) {
    error.set_field(ColumnOf(error.field()));
    printer.Print(error, std::to_string(error.line()));
  }
  printer.Finish();
}

ExitCode Report(const Invocation& invocation, Tally& tally) {
  std::sort(tally.errors.begin(), tally.errors.end(),
            [](const auto& a, const auto& b) { return a.line() < b.line(); });
  if (!tally.errors.empty() || invocation.format == Format::kJson) {
    std::vector<std::vector<std::string>> rows;
    for (const auto& error : tally.errors) {
      rows.push_back({std::to_string(error.line()), ColumnOf(error.field()), error.reason()});
    }
    if (ItemPrinter::Prints(invocation.format)) {
      PrintErrors(tally.errors, invocation.format);
    } else {
      TablePrinter({"LINE", "FIELD", "REASON"}, invocation.format).Print(rows);
    }
  }
  std::fprintf(stderr, "%ld created, %ld unchanged, %zu refused\n",
               static_cast<long>(tally.created), static_cast<long>(tally.unchanged),
               tally.errors.size());
  if (tally.errors.empty()) {
    return ExitCode::kDone;
  }
  return tally.created + tally.unchanged > 0 ? ExitCode::kPartlyDone : ExitCode::kInvalid;
}

// Reads the file into requests, one call after the other from the sending thread.
class RowSource {
 public:
  RowSource(std::ifstream& file, const Invocation& invocation, Guarded<Tally>& tally)
      : reader_(file), invocation_(invocation), tally_(tally) {}

  absl::Status Open() {
    auto columns = ReadHeader(reader_);
    if (!columns.ok()) {
      return columns.status();
    }
    columns_ = *columns;
    return absl::OkStatus();
  }

  bool Next(v1::ImportAccountsRequest& request) {
    if (first_) {
      request.set_parent("farms/" + invocation_.farm);
      request.set_validate_only(invocation_.validate_only);
    }
    while (request.rows_size() < kRowsPerRequest) {
      const auto record = reader_.Next();
      if (!record.has_value()) {
        break;
      }
      v1::ImportRowError error;
      auto row = ToRow(*record, columns_, invocation_.farm, error);
      if (row.ok()) {
        *request.add_rows() = *std::move(row);
      } else {
        tally_.Lock()->errors.push_back(error);
      }
    }
    const bool any = request.rows_size() > 0 || first_;
    first_ = false;
    return any;
  }

 private:
  CsvReader reader_;
  const Invocation& invocation_;
  Guarded<Tally>& tally_;
  Columns columns_;
  bool first_ = true;
};

// The first line names the columns.
std::int64_t CountRows(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::count(std::istreambuf_iterator<char>(file), {}, '\n') - 1;
}

// Shows how far it is, and is done with that when it returns.
absl::Status SendRows(ApiClient& client, std::int64_t count, RowSource& rows,
                      Guarded<Tally>& tally) {
  ProgressBar progress("import", count);
  return client.ImportAccounts(
      [&](v1::ImportAccountsRequest& request) { return rows.Next(request); },
      [&](const v1::ImportAccountsResponse& response) {
        auto now = tally.Lock();
        now->created += response.created();
        now->unchanged += response.unchanged();
        now->revision = std::max(now->revision, response.revision());
        now->errors.insert(now->errors.end(), response.errors().begin(), response.errors().end());
        progress.Set(now->created + now->unchanged + static_cast<std::int64_t>(now->errors.size()));
      });
}

}  // namespace

ExitCode ImportAccountsFile(ApiClient& client, const Invocation& invocation) {
  if ((invocation.type != "accounts" && invocation.type != "account") ||
      invocation.names.size() != 1) {
    return Fail(Error(absl::StatusCode::kUnimplemented,
                      "import wants \"accounts FILE.csv\": see croft import --help"));
  }
  std::ifstream file(invocation.names[0], std::ios::binary);
  if (!file || std::filesystem::is_directory(invocation.names[0])) {
    return Fail(Error(absl::StatusCode::kInvalidArgument, "cannot read {}", invocation.names[0]));
  }
  Guarded<Tally> tally;
  RowSource rows(file, invocation, tally);
  if (auto status = rows.Open(); !status.ok()) {
    return Fail(status);
  }
  const auto status = SendRows(client, CountRows(invocation.names[0]), rows, tally);
  Tally result = *tally.Lock();
  const ExitCode code = Report(invocation, result);
  if (!status.ok()) {
    std::fprintf(stderr, "croft: the import ended early; run it again, what exists stays\n");
    return Fail(status);
  }
  const ExitCode waited =
      WaitAfterWrite(client, invocation, result.revision, {"farms/" + invocation.farm + "/"});
  return code == ExitCode::kDone ? waited : code;
}

}  // namespace croft::admin_cli
