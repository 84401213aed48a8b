// Names of objects from what a listing printed (-o name, jsonl, json or csv): the input of a next
// command. Memory is the names'. The text is untrusted.
#pragma once

#include <absl/status/statusor.h>

#include <istream>
#include <string>
#include <string_view>
#include <vector>

namespace croft::admin_cli {

// Each line is a name, an object of JSON with a "name", or a row of CSV whose header has the column
// NAME; or all of it is an array of JSON. Errors say the line; `source` begins them.
absl::StatusOr<std::vector<std::string>> ReadNames(std::istream& input, std::string_view source);

// The same of files, "-" is stdin.
absl::StatusOr<std::vector<std::string>> ReadNamesOf(const std::vector<std::string>& files);

}  // namespace croft::admin_cli
