// Results on stdout in the form asked for; everything else goes to stderr. Lists stream: rows are
// printed as pages arrive.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <google/protobuf/message.h>

#include <string>
#include <string_view>
#include <vector>

#include "admin-cli/nouns.h"

namespace croft::admin_cli {

enum class Format { kTable, kWide, kJson, kJsonLines, kYaml, kCsv, kName };

absl::StatusOr<Format> ParseFormat(std::string_view text);

// A table of text cells, columns padded to the widest cell of the first page.
class TablePrinter {
 public:
  TablePrinter(std::vector<std::string> titles, Format format);
  void Print(const std::vector<std::vector<std::string>>& rows);

 private:
  std::vector<std::string> titles_;
  Format format_;
  std::vector<std::size_t> widths_;
};

// Prints messages of a list in the forms for other programs: json (one array), jsonl, yaml (a
// document each) and name.
class ItemPrinter {
 public:
  explicit ItemPrinter(Format format) : format_(format) {}
  // Whether the format is one of these; the others are a table's.
  static bool Prints(Format format);
  void Print(const google::protobuf::Message& item, const std::string& name);
  // Ends what the list began.
  void Finish();

 private:
  Format format_;
  bool any_ = false;
};

// Prints resources of one noun page by page.
class ResourcePrinter {
 public:
  // `full_names`: the table names objects of several farms.
  ResourcePrinter(const Noun& noun, Format format, bool full_names = false);
  void Print(const std::vector<MessagePtr>& page);
  // A single resource (get, create): json and yaml without a list around it.
  void PrintOne(const google::protobuf::Message& resource);
  // Ends what a list began; an empty table says so on stderr.
  void Finish();

 private:
  std::vector<std::string> Cells(const google::protobuf::Message& resource) const;
  bool full_names_;
  const Noun& noun_;
  Format format_;
  std::vector<Column> columns_;
  TablePrinter table_;
  ItemPrinter items_;
  bool any_ = false;
};

// An error as the operator sees it on stderr: message, then each field violation on a line of its
// own.
void PrintError(const absl::Status& status);

// A bar on stderr, only when that is a terminal; redrawn at most ten times a second.
class ProgressBar {
 public:
  ProgressBar(std::string label, std::int64_t total);
  ~ProgressBar();
  void Set(std::int64_t done);

 private:
  std::string label_;
  std::int64_t total_;
  std::int64_t drawn_at_ms_ = 0;
  bool terminal_;
};

}  // namespace croft::admin_cli
