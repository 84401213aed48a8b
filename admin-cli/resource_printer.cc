#include "admin-cli/resource_printer.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "admin-cli/field_column.h"
#include "proto/contract/field_path.h"
#include "proto/contract/strict_reader.h"

namespace croft::admin_cli {
namespace {

std::string NameOf(const google::protobuf::Message& resource) {
  return contract::GetField(resource, "name").value_or("");
}

std::string UpperCase(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

View WithoutColumns(View view) {
  view.columns.clear();
  return view;
}

}  // namespace

std::vector<ResourcePrinter::Shown> ResourcePrinter::Choose(const Noun& noun, const View& view) {
  std::vector<Shown> columns;
  if (!view.columns.empty()) {
    for (const std::string& path :
         SplitColumns(view.columns).value_or(std::vector<std::string>())) {
      columns.push_back({UpperCase(path), path});
    }
    return columns;
  }
  for (const Column& column : noun.columns) {
    if (!column.wide || view.format == Format::kWide || view.format == Format::kCsv) {
      columns.push_back({std::string(column.title), std::string(column.path)});
    }
  }
  return columns;
}

std::vector<std::string> ResourcePrinter::Titles(const std::vector<Shown>& columns) {
  std::vector<std::string> titles;
  for (const Shown& column : columns) {
    titles.push_back(column.title);
  }
  return titles;
}

ResourcePrinter::ResourcePrinter(const Noun& noun, const View& view, bool full_names)
    : full_names_(full_names),
      noun_(noun),
      view_(view),
      columns_(Choose(noun, view)),
      table_(Titles(columns_), WithoutColumns(view)),
      items_(view.format) {
  if (!view.columns.empty()) {
    for (const Shown& column : columns_) {
      fields_.push_back(column.path.substr(0, column.path.find_first_of(".[")));
    }
  }
}

absl::Status ResourcePrinter::Check() const {
  if (view_.columns.empty()) {
    return absl::OkStatus();
  }
  absl::Status status = SplitColumns(view_.columns).status();
  const MessagePtr empty = NewResource(noun_);
  for (std::size_t i = 0; status.ok() && i < columns_.size(); ++i) {
    // Items are printed with all of a field: it need not be a single value.
    const bool whole = ItemPrinter::Prints(view_.format) &&
                       empty->GetDescriptor()->FindFieldByName(columns_[i].path) != nullptr;
    status = whole ? absl::OkStatus() : CheckColumn(*empty, columns_[i].path);
  }
  return status;
}

std::vector<std::string> ResourcePrinter::Cells(const google::protobuf::Message& resource) const {
  std::vector<std::string> cells;
  for (const Shown& column : columns_) {
    std::string text = ColumnText(resource, column.path);
    // A table shows short names; what goes to other programs keeps the full ones.
    if (view_.format == Format::kTable && !full_names_ && text.find(' ') == std::string::npos &&
        (column.path == "name" || column.path == "home.store")) {
      text = std::string(ShortName(text));
    }
    cells.push_back(text.empty() && view_.format != Format::kCsv ? "-" : std::move(text));
  }
  return cells;
}

void ResourcePrinter::Print(const std::vector<MessagePtr>& page) {
  if (page.empty()) {
    return;
  }
  any_ = true;
  if (ItemPrinter::Prints(view_.format)) {
    for (const auto& resource : page) {
      items_.Print(*resource, NameOf(*resource));
    }
    return;
  }
  std::vector<std::vector<std::string>> rows;
  rows.reserve(page.size());
  for (const auto& resource : page) {
    rows.push_back(Cells(*resource));
  }
  table_.Print(rows);
}

void ResourcePrinter::PrintOne(const google::protobuf::Message& resource) {
  if (view_.format == Format::kJson) {
    Put(contract::WriteJson(resource, true));
  } else if (view_.format == Format::kYaml) {
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
  if (any_) {
    return;
  }
  if (view_.format == Format::kCsv) {
    table_.Print({});
  } else if (view_.format == Format::kTable || view_.format == Format::kWide) {
    Say("no " + std::string(noun_.noun));
  }
}

}  // namespace croft::admin_cli
