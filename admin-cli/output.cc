#include "admin-cli/output.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "admin-cli/text_width.h"
#include "proto/base/error.h"
#include "proto/contract/field_text.h"
#include "proto/contract/nearest_name.h"
#include "proto/contract/strict_reader.h"

namespace croft::admin_cli {
namespace {

std::string CsvCell(const std::string& text, bool alone) {
  if (text.find_first_of(",\"\n\r") == std::string::npos && !(alone && text.empty())) {
    return text;
  }
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c;
    if (c == '"') {
      quoted += c;
    }
  }
  return quoted + '"';
}

// One line of JSON: WriteJson's text without its line breaks and indentation.
std::string OneLine(const std::string& json) {
  std::string line;
  line.reserve(json.size());
  bool in_string = false;
  bool escaped = false;
  for (const char c : json) {
    if (in_string) {
      in_string = c != '"' || escaped;
      escaped = c == '\\' && !escaped;
    } else if (c == '\n' || c == ' ') {
      continue;
    } else {
      in_string = c == '"';
    }
    line += c;
  }
  return line;
}

bool IsTerminal(Stream stream) {
  static const bool out = ::isatty(STDOUT_FILENO) == 1;
  static const bool error = ::isatty(STDERR_FILENO) == 1;
  return stream == Stream::kOut ? out : error;
}

// "PER SECOND" -> "per_second".
std::string ColumnName(std::string_view title) {
  std::string name;
  for (const char c : title) {
    name += c == ' ' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return name;
}

}  // namespace

absl::StatusOr<Format> ParseFormat(std::string_view text) {
  constexpr std::pair<std::string_view, Format> kFormats[] = {
      {"table", Format::kTable},     {"wide", Format::kWide}, {"json", Format::kJson},
      {"jsonl", Format::kJsonLines}, {"yaml", Format::kYaml}, {"csv", Format::kCsv},
      {"name", Format::kName},
  };
  for (const auto& [name, format] : kFormats) {
    if (name == text) {
      return format;
    }
  }
  return Error(absl::StatusCode::kUnimplemented,
               "no output format \"{}\"; there are: table, wide, json, jsonl, "
               "yaml, csv, name",
               text);
}

void Put(const std::string& text) {
  const std::string& shown = IsTerminal(Stream::kOut) ? Visible(text, true) : text;
  std::fwrite(shown.data(), 1, shown.size(), stdout);
}

void Say(const std::string& line) { std::fprintf(stderr, "%s\n", Visible(line, true).c_str()); }

bool IsColoured(Stream stream) {
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return IsTerminal(stream) && (no_color == nullptr || *no_color == '\0') && terminal != nullptr &&
         std::string_view(terminal) != "dumb";
}

absl::StatusOr<std::vector<std::string>> SplitColumns(std::string_view columns) {
  std::vector<std::string> names;
  for (const std::string_view name : contract::SplitList(columns)) {
    if (name.empty()) {
      return Error(absl::StatusCode::kUnimplemented,
                   "--columns: \"{}\" has an empty column; it is a list like name,state", columns);
    }
    names.emplace_back(name);
  }
  return names;
}

TablePrinter::TablePrinter(std::vector<std::string> titles, const View& view)
    : titles_(std::move(titles)), format_(view.format), headers_(view.headers) {
  if (!view.columns.empty()) {
    Choose(view.columns);
    return;
  }
  for (std::size_t i = 0; i < titles_.size(); ++i) {
    shown_.push_back(i);
  }
}

void TablePrinter::Choose(const std::string& columns) {
  std::vector<std::string> names;
  std::string list;
  for (const std::string& title : titles_) {
    names.push_back(ColumnName(title));
    list += (list.empty() ? "" : ", ") + names.back();
  }
  const auto wanted = SplitColumns(columns);
  status_ = wanted.status();
  for (std::size_t i = 0; wanted.ok() && i < wanted->size(); ++i) {
    const auto at = std::find(names.begin(), names.end(), ColumnName((*wanted)[i]));
    if (at != names.end()) {
      shown_.push_back(static_cast<std::size_t>(at - names.begin()));
      continue;
    }
    const std::string nearest = contract::NearestName((*wanted)[i], names);
    status_ = Error(absl::StatusCode::kUnimplemented,
                    "--columns: there is no column \"{}\"{}; there are: {}", (*wanted)[i],
                    nearest.empty() ? "" : ", but \"" + nearest + "\"", list);
  }
}

void TablePrinter::PrintLine(const std::vector<std::string>& cells, bool bold) {
  std::string text;
  for (std::size_t i = 0; i < shown_.size(); ++i) {
    const std::string& cell = cells[shown_[i]];
    const bool last = i + 1 == shown_.size();
    if (format_ == Format::kCsv) {
      text += CsvCell(cell, shown_.size() == 1) + (last ? "" : ",");
      continue;
    }
    const std::string visible = Visible(cell);
    const std::size_t width = DisplayWidth(visible);
    text += visible;
    text.append(last ? 0 : std::max(widths_[i], width) - width + 2, ' ');
  }
  while (format_ != Format::kCsv && !text.empty() && text.back() == ' ') {
    text.pop_back();
  }
  if (bold) {
    std::printf("\033[1m%s\033[0m\n", text.c_str());
  } else {
    Put(text + "\n");
  }
}

void TablePrinter::Print(const std::vector<std::vector<std::string>>& rows) {
  constexpr std::size_t kWidthMax = 60;
  if (!status_.ok()) {
    return;
  }
  if (widths_.empty()) {
    for (const std::size_t column : shown_) {
      std::size_t width = headers_ ? DisplayWidth(titles_[column]) : 0;
      for (const auto& row : rows) {
        width = std::max(width, std::min(DisplayWidth(Visible(row[column])), kWidthMax));
      }
      widths_.push_back(width);
    }
    if (headers_) {
      PrintLine(titles_, format_ != Format::kCsv && IsColoured(Stream::kOut));
    }
  }
  for (const auto& row : rows) {
    PrintLine(row, false);
  }
}

bool ItemPrinter::Prints(Format format) {
  return format == Format::kJson || format == Format::kJsonLines || format == Format::kYaml ||
         format == Format::kName;
}

void ItemPrinter::Print(const google::protobuf::Message& item, const std::string& name) {
  if (format_ == Format::kName) {
    Put(name + "\n");
  } else if (format_ == Format::kJsonLines) {
    Put(OneLine(contract::WriteJson(item, true)) + "\n");
  } else if (format_ == Format::kYaml) {
    Put("---\n" + contract::WriteYaml(item, true));
  } else {
    std::string json = contract::WriteJson(item, true);
    json.erase(json.find_last_not_of('\n') + 1);
    Put((any_ ? ",\n" : "[\n") + json);
  }
  any_ = true;
}

void ItemPrinter::Finish() {
  if (format_ == Format::kJson) {
    Put(any_ ? "\n]\n" : "[]\n");
  }
}

}  // namespace croft::admin_cli
