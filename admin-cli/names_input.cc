#include "admin-cli/names_input.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iostream>
#include <sstream>

#include "admin-cli/csv.h"
#include "admin-cli/line_reader.h"
#include "proto/base/error.h"
#include "proto/contract/document.h"

namespace croft::admin_cli {
namespace {

using contract::DocumentNode;

constexpr std::size_t kLineBytesMax = 1024 * 1024;

absl::Status Refused(std::string_view source, std::int64_t line, std::string_view what) {
  return Error(absl::StatusCode::kInvalidArgument, "{}, line {}: {}", source, line, what);
}

// The name of an object of JSON; empty if it has none.
std::string NameOf(const DocumentNode& object) {
  for (const auto& member : object.members) {
    if (member.key == "name" && member.value.is_string) {
      return member.value.text;
    }
  }
  return "";
}

std::string Trimmed(std::string_view line) {
  const auto is_space = [](unsigned char c) { return std::isspace(c) != 0; };
  while (!line.empty() && is_space(static_cast<unsigned char>(line.back()))) {
    line.remove_suffix(1);
  }
  while (!line.empty() && is_space(static_cast<unsigned char>(line.front()))) {
    line.remove_prefix(1);
  }
  return std::string(line);
}

absl::StatusOr<std::string> NameOfLine(const std::string& line, std::string_view source,
                                       std::int64_t number) {
  if (!line.starts_with('{')) {
    return line.find_first_of(" \t,\"") == std::string::npos
               ? absl::StatusOr<std::string>(line)
               : Refused(source, number,
                         "is neither a name nor an object of JSON; croft list TYPE -o name or -o "
                         "jsonl prints what is wanted here");
  }
  contract::ViolationList violations;
  std::string name = NameOf(contract::ParseJson(line, violations));
  if (name.empty()) {
    return Refused(source, number, "is no object of JSON with a \"name\"");
  }
  return name;
}

absl::StatusOr<std::vector<std::string>> NamesOfArray(std::istream& input, std::string_view source,
                                                      std::string text) {
  std::string line;
  while (text.size() <= contract::kDocumentBytesMax &&
         ReadLine(input, kLineBytesMax, line) == LineRead::kLine) {
    text += '\n' + line;
  }
  contract::ViolationList violations;
  const DocumentNode array = contract::ParseJson(text, violations);
  std::vector<std::string> names;
  for (const DocumentNode& item : array.items) {
    names.push_back(NameOf(item));
  }
  if (names.empty() || std::find(names.begin(), names.end(), "") != names.end()) {
    return Refused(source, 1,
                   "is no array of JSON of at most 8 MiB whose objects have a \"name\"; of more, "
                   "take -o jsonl");
  }
  return names;
}

// Where a header of CSV has the name; npos if it is none.
std::size_t NameColumn(std::string line) {
  std::transform(line.begin(), line.end(), line.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::istringstream text(line);
  const auto header = CsvReader(text).Next();
  if (!header.has_value()) {
    return std::string::npos;
  }
  const auto at = std::find(header->fields.begin(), header->fields.end(), "name");
  return at == header->fields.end() ? std::string::npos
                                    : static_cast<std::size_t>(at - header->fields.begin());
}

absl::StatusOr<std::vector<std::string>> NamesOfCsv(std::istream& input, std::string_view source,
                                                    std::size_t column) {
  CsvReader rows(input);
  std::vector<std::string> names;
  while (auto row = rows.Next()) {
    if (!row->problem.empty() || column >= row->fields.size() || row->fields[column].empty()) {
      return Refused(source, row->line + 1,
                     row->problem.empty() ? "has no name in its row" : row->problem);
    }
    names.push_back(std::move(row->fields[column]));
  }
  return names;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ReadNames(std::istream& input, std::string_view source) {
  std::vector<std::string> names;
  std::string raw;
  for (std::int64_t number = 1;; ++number) {
    const LineRead read = ReadLine(input, kLineBytesMax, raw);
    if (read == LineRead::kEnd) {
      return names;
    }
    if (read == LineRead::kTooLong) {
      return Refused(source, number, "is longer than 1 MiB");
    }
    const std::string line = Trimmed(raw);
    if (line.empty()) {
      continue;
    }
    if (names.empty() && line.starts_with('[')) {
      return NamesOfArray(input, source, line);
    }
    if (const std::size_t column = names.empty() ? NameColumn(line) : std::string::npos;
        column != std::string::npos) {
      return NamesOfCsv(input, source, column);
    }
    auto name = NameOfLine(line, source, number);
    if (!name.ok()) {
      return name.status();
    }
    names.push_back(*std::move(name));
  }
}

absl::StatusOr<std::vector<std::string>> ReadNamesOf(const std::vector<std::string>& files) {
  std::vector<std::string> all;
  for (const std::string& file : files) {
    std::ifstream opened;
    if (file != "-") {
      opened.open(file);
      if (!opened.is_open()) {
        return Error(absl::StatusCode::kInvalidArgument, "{} can't be read; is it there?", file);
      }
    }
    auto names = file == "-" ? ReadNames(std::cin, "stdin") : ReadNames(opened, file);
    if (!names.ok()) {
      return names;
    }
    all.insert(all.end(), std::make_move_iterator(names->begin()),
               std::make_move_iterator(names->end()));
  }
  return all;
}

}  // namespace croft::admin_cli
