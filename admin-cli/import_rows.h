// The rows of an import file as resources: CSV whose header names field paths, or JSON lines. The
// text is untrusted; a row that is wrong spoils no other. Pure.
#pragma once

#include <absl/status/status.h>
#include <google/protobuf/descriptor.h>

#include <istream>
#include <string>
#include <vector>

#include "admin-cli/csv.h"
#include "admin-cli/nouns.h"
#include "croft/v1/account.pb.h"
#include "croft/v1/resource.pb.h"

namespace croft::admin_cli {

inline constexpr std::size_t kJsonRowBytesMax = 1024 * 1024;

enum class RowFormat { kCsv, kJsonLines };

class RowReader {
 public:
  // `noun` and `input` must outlive the reader. `farm` is that of names that have none.
  RowReader(std::istream& input, const Noun& noun, std::string farm, RowFormat format);

  // Reads the CSV header: "name" and other fields as key=value takes them, an account's "store"
  // too. The error names the column.
  absl::Status Open();

  enum class Outcome { kRow, kProblem, kEnd };
  // Fills `row`, which must be empty, or `problem`.
  Outcome Next(v1::ImportRow& row, v1::ImportRowError& problem);

 private:
  struct ColumnField {
    std::string path;
    // Of a text at the top, which is most columns; null for the others.
    const google::protobuf::FieldDescriptor* text = nullptr;
  };

  absl::Status AddColumn(const CsvRecord& header, const std::string& cell);
  Outcome NextCsv(v1::ImportRow& row, v1::ImportRowError& problem);
  Outcome NextJson(v1::ImportRow& row, v1::ImportRowError& problem);
  // Reads one line's object; false and a problem if it is none.
  bool ReadJson(std::string_view text, google::protobuf::Message& resource,
                v1::ImportRowError& problem) const;
  google::protobuf::Message& ResourceOf(v1::ImportRow& row) const;
  Outcome Complete(v1::ImportRow& row, v1::ImportRowError& problem) const;

  std::istream& input_;
  const Noun& noun_;
  const std::string farm_;
  const RowFormat format_;
  const google::protobuf::FieldDescriptor* const member_;  // of croft.v1.Resource
  CsvReader csv_;
  std::vector<ColumnField> columns_;
  std::int64_t line_ = 0;  // of JSON lines
};

}  // namespace croft::admin_cli
