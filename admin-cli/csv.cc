#include "admin-cli/csv.h"

#include <string_view>
#include <utility>

namespace croft::admin_cli {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// Splits one complete record. False: a quote is still open, the record goes on with the next line.
bool Split(std::string_view text, CsvRecord& record) {
  record.fields.clear();
  std::string field;
  bool quoted = false;
  bool was_quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      field += '"';
      ++i;
    } else if (c == '"' && (quoted || (field.empty() && !was_quoted))) {
      was_quoted = true;
      quoted = !quoted;
    } else if (c == '"' || (was_quoted && !quoted && c != ',')) {
      record.problem = "a quote inside an unquoted value; quote the whole value and double it";
      return true;
    } else if (c == ',' && !quoted) {
      record.fields.push_back(std::exchange(field, {}));
      was_quoted = false;
    } else {
      field += c;
    }
  }
  if (quoted) {
    return false;
  }
  record.fields.push_back(std::move(field));
  return true;
}

}  // namespace

std::optional<CsvRecord> CsvReader::Next() {
  std::string line;
  while (std::getline(input_, line)) {
    ++line_;
    if (line_ == 1 && line.starts_with(kByteOrderMark)) {
      line.erase(0, kByteOrderMark.size());
    }
    if (line.ends_with('\r')) {
      line.pop_back();
    }
    if (line.empty()) {
      continue;
    }
    CsvRecord record;
    record.line = line_;
    std::string text = std::move(line);
    while (!Split(text, record)) {
      if (text.size() > kCsvRecordBytesMax || !std::getline(input_, line)) {
        record.problem = "a quote is opened and never closed";
        return record;
      }
      ++line_;
      text += '\n' + line;
    }
    if (text.size() > kCsvRecordBytesMax) {
      record.problem = "the record is longer than 64 KiB";
    }
    return record;
  }
  return std::nullopt;
}

}  // namespace croft::admin_cli
