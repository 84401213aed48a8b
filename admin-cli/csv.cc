#include "admin-cli/csv.h"

#include <string_view>
#include <utility>

#include "admin-cli/line_reader.h"

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

// Length of the UTF-8 sequence that begins with `lead`; 0: none does.
std::size_t SequenceLength(unsigned char lead) {
  return lead < 0x80   ? 1
         : lead < 0xC2 ? 0
         : lead < 0xE0 ? 2
         : lead < 0xF0 ? 3
         : lead < 0xF5 ? 4
                       : 0;
}

// Well-formed UTF-8 (RFC 3629) without NUL.
bool IsText(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    const unsigned char lead = byte(i);
    const std::size_t length = SequenceLength(lead);
    if (lead == 0 || length == 0 || i + length > text.size()) {
      return false;
    }
    for (std::size_t k = 1; k < length; ++k) {
      if ((byte(i + k) & 0xC0) != 0x80) {
        return false;
      }
    }
    const unsigned char second = length > 1 ? byte(i + 1) : 0;
    const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
    const bool surrogate = lead == 0xED && second > 0x9F;
    if (overlong || surrogate || (lead == 0xF4 && second > 0x8F)) {
      return false;
    }
    i += length;
  }
  return true;
}

}  // namespace

std::optional<CsvRecord> CsvReader::Next() {
  std::string line;
  for (;;) {
    LineRead read = ReadLine(input_, kCsvRecordBytesMax, line);
    if (read == LineRead::kEnd) {
      return std::nullopt;
    }
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
    while (read == LineRead::kLine && text.size() <= kCsvRecordBytesMax && !Split(text, record)) {
      read = ReadLine(input_, kCsvRecordBytesMax, line);
      if (read == LineRead::kEnd) {
        record.problem = "a quote is opened and never closed";
        return record;
      }
      ++line_;
      text += '\n' + line;
    }
    if (read == LineRead::kTooLong || text.size() > kCsvRecordBytesMax) {
      record.problem = "the record is longer than 64 KiB; is a quote never closed?";
    } else if (!IsText(text)) {
      record.problem = "is not UTF-8 text; convert the file (iconv -f ENCODING -t UTF-8)";
    }
    return record;
  }
}

}  // namespace croft::admin_cli
