#include "admin-cli/import_rows.h"

#include <algorithm>
#include <utility>

#include "admin-cli/assignments.h"
#include "admin-cli/line_reader.h"
#include "admin-cli/request.h"
#include "proto/base/check.h"
#include "proto/base/error.h"
#include "proto/contract/document.h"
#include "proto/contract/errors.h"
#include "proto/contract/field_path.h"
#include "proto/contract/field_rules.h"
#include "proto/contract/strict_reader.h"
#include "proto/contract/text_rules.h"

namespace croft::admin_cli {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// Of a header's cell, in an error.
constexpr std::size_t kShownBytes = 60;

const FieldDescriptor* MemberFor(const Noun& noun) {
  const auto* member = v1::Resource::descriptor()->FindFieldByName(std::string(noun.noun));
  Check(member != nullptr, "croft.v1.Resource has a member for every noun");
  return member;
}

void Refuse(v1::ImportRowError& problem, std::string_view field, std::string_view reason) {
  problem.set_field(std::string(field));
  problem.set_reason(std::string(reason));
}

// "path: what is wrong" -> "what is wrong", since the path has a place of its own.
std::string_view WithoutPath(std::string_view message, std::string_view path) {
  if (message.starts_with(path) && message.substr(path.size()).starts_with(": ")) {
    message.remove_prefix(path.size() + 2);
  }
  return message;
}

}  // namespace

RowReader::RowReader(std::istream& input, const Noun& noun, std::string farm, RowFormat format)
    : input_(input),
      noun_(noun),
      farm_(std::move(farm)),
      format_(format),
      member_(MemberFor(noun)),
      csv_(input) {}

absl::Status RowReader::Open() {
  if (format_ == RowFormat::kJsonLines) {
    return absl::OkStatus();
  }
  const auto header = csv_.Next();
  if (!header.has_value()) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "the file is empty; its first line names the columns: name,organization,...");
  }
  if (!header->problem.empty()) {
    return Error(absl::StatusCode::kInvalidArgument, "line {}: {}", header->line, header->problem);
  }
  for (const std::string& cell : header->fields) {
    if (auto status = AddColumn(*header, cell); !status.ok()) {
      return status;
    }
  }
  const bool named = std::any_of(columns_.begin(), columns_.end(),
                                 [](const ColumnField& column) { return column.path == "name"; });
  if (!named && noun_.type != contract::ResourceType::kPlatform) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "line {}: no column \"name\"; the first line names the columns", header->line);
  }
  return absl::OkStatus();
}

absl::Status RowReader::AddColumn(const CsvRecord& header, const std::string& cell) {
  // A spreadsheet's "Name" is meant; what follows a dot may be a label's key.
  std::string path = cell.find('.') == std::string::npos ? contract::LowerAscii(cell) : cell;
  if (path == "store" && noun_.type == contract::ResourceType::kAccount) {
    path = "home.store";
  }
  const auto refuse = [&](std::string_view what) {
    return Error(absl::StatusCode::kInvalidArgument, "line {}: column \"{}\" {}", header.line,
                 contract::Shorten(cell, kShownBytes), what);
  };
  const auto repeated = std::find_if(columns_.begin(), columns_.end(),
                                     [&](const auto& column) { return column.path == path; });
  if (repeated != columns_.end()) {
    return refuse("is repeated");
  }
  const MessagePtr probe = NewResource(noun_);
  if (const auto known = contract::GetField(*probe, path); !known.ok()) {
    return refuse(fmt::format("is unknown: {}", contract::MessageOf(known.status())));
  }
  const FieldDescriptor* top =
      probe->GetDescriptor()->FindFieldByName(path.substr(0, path.find_first_of(".[")));
  if (top != nullptr && contract::RuleOf(*top).output_only()) {
    return refuse("is set by Croft; leave it out");
  }
  const bool is_text = top != nullptr && top->name() == path && !top->is_repeated() &&
                       top->cpp_type() == FieldDescriptor::CPPTYPE_STRING;
  columns_.push_back({std::move(path), is_text ? top : nullptr});
  return absl::OkStatus();
}

RowReader::Outcome RowReader::Next(v1::ImportRow& row, v1::ImportRowError& problem) {
  return format_ == RowFormat::kCsv ? NextCsv(row, problem) : NextJson(row, problem);
}

Message& RowReader::ResourceOf(v1::ImportRow& row) const {
  return *v1::Resource::GetReflection()->MutableMessage(row.mutable_resource(), member_);
}

RowReader::Outcome RowReader::NextCsv(v1::ImportRow& row, v1::ImportRowError& problem) {
  const auto record = csv_.Next();
  if (!record.has_value()) {
    return Outcome::kEnd;
  }
  row.set_line(record->line);
  problem.set_line(record->line);
  if (!record->problem.empty()) {
    Refuse(problem, "", record->problem);
    return Outcome::kProblem;
  }
  if (record->fields.size() != columns_.size()) {
    Refuse(
        problem, "",
        fmt::format("has {} values, the header names {}", record->fields.size(), columns_.size()));
    return Outcome::kProblem;
  }
  Message& resource = ResourceOf(row);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const std::string& cell = record->fields[i];
    const ColumnField& column = columns_[i];
    if (cell.empty()) {
      continue;
    }
    if (column.text != nullptr) {
      resource.GetReflection()->SetString(&resource, column.text, cell);
    } else if (auto status = contract::SetField(resource, column.path, cell); !status.ok()) {
      Refuse(problem, column.path, WithoutPath(contract::MessageOf(status), column.path));
      return Outcome::kProblem;
    }
  }
  return Complete(row, problem);
}

RowReader::Outcome RowReader::NextJson(v1::ImportRow& row, v1::ImportRowError& problem) {
  std::string line;
  for (;;) {
    const LineRead read = ReadLine(input_, kJsonRowBytesMax, line);
    if (read == LineRead::kEnd) {
      return Outcome::kEnd;
    }
    ++line_;
    row.set_line(line_);
    problem.set_line(line_);
    if (read == LineRead::kTooLong) {
      Refuse(problem, "", "the line is longer than 1 MiB");
      return Outcome::kProblem;
    }
    if (line.find_first_not_of(" \t\r") != std::string::npos) {
      return ReadJson(line, ResourceOf(row), problem) ? Complete(row, problem) : Outcome::kProblem;
    }
  }
}

bool RowReader::ReadJson(std::string_view text, Message& resource,
                         v1::ImportRowError& problem) const {
  const auto refuse = [&](const std::vector<v1::FieldViolation>& violations) {
    // One row is one line: "line 1: " tells nothing.
    constexpr std::string_view kLine = "line 1: ";
    std::string_view what = violations[0].description();
    what.remove_prefix(what.starts_with(kLine) ? kLine.size() : 0);
    Refuse(problem, violations[0].field(), what);
    return false;
  };
  contract::ViolationList violations;
  contract::DocumentNode root = contract::ParseJson(text, violations);
  if (const auto broken = violations.Take(); !broken.empty()) {
    return refuse(broken);
  }
  for (const contract::DocumentMember& member : root.members) {
    if (member.key == "type" && member.value.text != noun_.noun) {
      Refuse(problem, "type",
             fmt::format("\"{}\" is not what is imported, {}",
                         contract::Shorten(member.value.text, kShownBytes), noun_.noun));
      return false;
    }
  }
  std::erase_if(root.members, [](const auto& member) { return member.key == "type"; });
  const contract::ReadResult result = contract::ReadStrictJson(root, resource);
  return result.violations.empty() || refuse(result.violations);
}

RowReader::Outcome RowReader::Complete(v1::ImportRow& row, v1::ImportRowError& problem) const {
  Message& resource = ResourceOf(row);
  std::string name = TextOf(resource, "name");
  if (name.empty() && noun_.type != contract::ResourceType::kPlatform) {
    Refuse(problem, "name", "is empty");
    return Outcome::kProblem;
  }
  name = FullName(noun_, name, farm_);
  const std::string farm = FarmOf(name);
  SetString(resource, "name", name);
  QualifyNames(farm.empty() ? farm_ : farm, resource);
  return Outcome::kRow;
}

}  // namespace croft::admin_cli
