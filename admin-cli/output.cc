#include "admin-cli/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

#include "proto/base/error.h"
#include "proto/contract/errors.h"
#include "proto/contract/field_path.h"
#include "proto/contract/strict_reader.h"

namespace croft::admin_cli {
namespace {

std::vector<Column> ColumnsFor(const Noun& noun, Format format) {
  std::vector<Column> columns;
  for (const Column& column : noun.columns) {
    if (!column.wide || format == Format::kWide || format == Format::kCsv) {
      columns.push_back(column);
    }
  }
  return columns;
}

std::vector<std::string> Titles(const std::vector<Column>& columns) {
  std::vector<std::string> titles;
  for (const Column& column : columns) {
    titles.emplace_back(column.title);
  }
  return titles;
}

std::string CsvCell(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) {
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
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '"' && (i == 0 || json[i - 1] != '\\')) {
      in_string = !in_string;
    }
    if (c == '\n' || (!in_string && c == ' ')) {
      continue;
    }
    line += c;
  }
  return line;
}

std::string NameOf(const google::protobuf::Message& resource) {
  return contract::GetField(resource, "name").value_or("");
}

void Put(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

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
               "no output format \"{}\"; there are: table, wide, json, jsonl, yaml, csv, name",
               text);
}

TablePrinter::TablePrinter(std::vector<std::string> titles, Format format)
    : titles_(std::move(titles)), format_(format) {}

void TablePrinter::Print(const std::vector<std::vector<std::string>>& rows) {
  const bool csv = format_ == Format::kCsv;
  const bool first = widths_.empty();
  if (first) {
    for (std::size_t i = 0; i < titles_.size(); ++i) {
      std::size_t width = titles_[i].size();
      for (const auto& row : rows) {
        width = std::max(width, std::min<std::size_t>(row[i].size(), 60));
      }
      widths_.push_back(width);
    }
  }
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string text;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const bool last = i + 1 == cells.size();
      if (csv) {
        text += CsvCell(cells[i]) + (last ? "" : ",");
      } else {
        text += last ? cells[i] : fmt::format("{:<{}}  ", cells[i], widths_[i]);
      }
    }
    while (!csv && !text.empty() && text.back() == ' ') {
      text.pop_back();
    }
    Put(text + "\n");
  };
  if (first) {
    line(titles_);
  }
  for (const auto& row : rows) {
    line(row);
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

ResourcePrinter::ResourcePrinter(const Noun& noun, Format format, bool full_names)
    : full_names_(full_names),
      noun_(noun),
      format_(format),
      columns_(ColumnsFor(noun, format)),
      table_(Titles(columns_), format),
      items_(format) {}

std::vector<std::string> ResourcePrinter::Cells(const google::protobuf::Message& resource) const {
  std::vector<std::string> cells;
  for (const Column& column : columns_) {
    std::string text = contract::GetField(resource, column.path).value_or("");
    // A table shows short names; what goes to other programs keeps the full ones.
    if (format_ == Format::kTable && !full_names_ && text.find(' ') == std::string::npos &&
        (column.path == "name" || column.path == "home.store")) {
      text = std::string(ShortName(text));
    }
    cells.push_back(text.empty() && format_ != Format::kCsv ? "-" : std::move(text));
  }
  return cells;
}

void ResourcePrinter::Print(const std::vector<MessagePtr>& page) {
  if (page.empty()) {
    return;
  }
  any_ = true;
  if (ItemPrinter::Prints(format_)) {
    for (const auto& resource : page) {
      items_.Print(*resource, NameOf(*resource));
    }
    return;
  }
  std::vector<std::vector<std::string>> rows;
  for (const auto& resource : page) {
    rows.push_back(Cells(*resource));
  }
  table_.Print(rows);
}

void ResourcePrinter::PrintOne(const google::protobuf::Message& resource) {
  if (format_ == Format::kJson) {
    Put(contract::WriteJson(resource, true) + "\n");
  } else if (format_ == Format::kYaml) {
    Put(contract::WriteYaml(resource, true));
  } else {
    std::vector<MessagePtr> page;
    page.emplace_back(resource.New());
    page.back()->CopyFrom(resource);
    Print(page);
  }
}

void ResourcePrinter::Finish() {
  items_.Finish();
  if (!any_ && (format_ == Format::kTable || format_ == Format::kWide)) {
    std::fprintf(stderr, "no %s\n", std::string(noun_.noun).c_str());
  }
}

void PrintError(const absl::Status& status) {
  const std::string message(status.message());
  const auto detail = contract::FindDetail(status);
  if (!detail.has_value() || detail->violations().empty()) {
    std::fprintf(stderr, "croft: %s\n", message.c_str());
    return;
  }
  const auto& violations = detail->violations();
  const auto text = [](const v1::FieldViolation& violation) {
    const bool says_value =
        violation.value().empty() ||
        violation.description().find('"' + violation.value() + '"') != std::string::npos;
    return violation.field() + ": " + (says_value ? "" : "\"" + violation.value() + "\": ") +
           violation.description();
  };
  // The message of a refused input is its violations in a row; they are told once.
  const bool told = message.starts_with(violations[0].field() + ": ");
  if (told && violations.size() == 1) {
    std::fprintf(stderr, "croft: %s\n", text(violations[0]).c_str());
    return;
  }
  std::fprintf(
      stderr, "croft: %s\n",
      told ? fmt::format("{} fields are refused", violations.size()).c_str() : message.c_str());
  for (const auto& violation : violations) {
    std::fprintf(stderr, "  %s\n", text(violation).c_str());
  }
}

ProgressBar::ProgressBar(std::string label, std::int64_t total)
    : label_(std::move(label)), total_(total), terminal_(::isatty(STDERR_FILENO) == 1) {}

ProgressBar::~ProgressBar() {
  if (terminal_ && drawn_at_ms_ != 0) {
    std::fprintf(stderr, "\r\033[K");
  }
}

void ProgressBar::Set(std::int64_t done) {
  const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
                       std::chrono::steady_clock::now().time_since_epoch())
                       .count();
  if (!terminal_ || now - drawn_at_ms_ < 100) {
    return;
  }
  drawn_at_ms_ = now;
  constexpr int kWidth = 40;
  const int filled = total_ <= 0 ? 0 : static_cast<int>(done * kWidth / total_);
  std::fprintf(stderr, "\r%s [%-*s] %ld/%ld", label_.c_str(), kWidth,
               std::string(static_cast<std::size_t>(std::min(filled, kWidth)), '#').c_str(),
               static_cast<long>(done), static_cast<long>(total_));
  std::fflush(stderr);
}

}  // namespace croft::admin_cli
