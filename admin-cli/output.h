// Results on stdout in the form asked for; everything else goes to stderr.
// Lists stream: rows are printed as pages arrive, in constant memory. A
// terminal never gets a control character.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <google/protobuf/message.h>

#include <string>
#include <string_view>
#include <vector>

namespace croft::admin_cli {

enum class Format { kTable, kWide, kJson, kJsonLines, kYaml, kCsv, kName };

absl::StatusOr<Format> ParseFormat(std::string_view text);

// How a listing is shown.
struct View {
  View(Format shown) : format(shown) {}  // NOLINT(google-explicit-constructor): a format is a view
  Format format;
  std::string columns;  // what --columns said; empty: the usual ones
  bool headers = true;
};

// Text for stdout; on a terminal without what it would obey.
void Put(const std::string& text);
// A line for stderr, likewise.
void Say(const std::string& line);
// Whether that stream is a terminal that may be coloured (NO_COLOR, TERM=dumb).
enum class Stream { kOut, kError };
bool IsColoured(Stream stream);

// "name, state" -> the parts; refuses empty ones.
absl::StatusOr<std::vector<std::string>> SplitColumns(std::string_view columns);

// A table of text cells, or CSV (RFC 4180 with line feeds). Columns are padded
// to the widest cell of the first page, in a terminal's cells. The view's
// columns choose among the titles, in any letter case, "_" for a space.
class TablePrinter {
 public:
  TablePrinter(std::vector<std::string> titles, const View& view);
  // invalid_argument for a column that is none of the titles. It must be OK to
  // Print.
  absl::Status Check() const { return status_; }
  void Print(const std::vector<std::vector<std::string>>& rows);

 private:
  void PrintLine(const std::vector<std::string>& cells, bool bold);
  void Choose(const std::string& columns);

  std::vector<std::string> titles_;
  std::vector<std::size_t> shown_;  // indexes into titles and rows
  Format format_;
  bool headers_;
  absl::Status status_;
  std::vector<std::size_t> widths_;
};

// Prints messages of a list in the forms for other programs: json (one array),
// jsonl, yaml (a document each) and name.
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

// An error as the operator sees it on stderr: message, then each field
// violation on a line of its own, then the way out where the message does not
// have it.
void PrintError(const absl::Status& status);

// A bar on stderr, only when that is a terminal; redrawn at most ten times a
// second.
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
