// Comma-separated values (RFC 4180), a record at a time. The text is untrusted. Pure.
#pragma once

#include <absl/status/statusor.h>

#include <istream>
#include <optional>
#include <string>
#include <vector>

namespace croft::admin_cli {

inline constexpr std::size_t kCsvRecordBytesMax = 64 * 1024;

struct CsvRecord {
  std::int64_t line = 0;  // where it begins, 1-based
  std::vector<std::string> fields;
  // Not empty: the record is malformed (an unclosed or misplaced quote, too long, not UTF-8); the
  // reader goes on with the next line.
  std::string problem;
};

class CsvReader {
 public:
  explicit CsvReader(std::istream& input) : input_(input) {}
  // nullopt at the end. Empty lines are skipped. LF and CRLF end a record; a byte order mark is
  // ignored.
  std::optional<CsvRecord> Next();

 private:
  std::istream& input_;
  std::int64_t line_ = 0;
};

}  // namespace croft::admin_cli
