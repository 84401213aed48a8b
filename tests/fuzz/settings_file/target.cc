// YAML and JSON: what is read writes to a text that reads to the same.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "croft/v1/site.pb.h"
#include "proto/base/check.h"
#include "proto/contract/strict_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  using namespace croft::contract;
  croft::v1::Site site;
  if (!ReadStrict(text, site).violations.empty()) {
    return 0;
  }
  const std::string yaml = WriteYaml(site, true);
  croft::v1::Site again;
  croft::Check(ReadStrict(yaml, again).violations.empty(), "what is written cannot be read");
  croft::Check(WriteYaml(again, true) == yaml, "writing and reading changes the message");
  croft::v1::Site from_json;
  croft::Check(ReadStrict(WriteJson(site, true), from_json).violations.empty(), "JSON is refused");
  croft::Check(WriteYaml(from_json, true) == yaml, "JSON says something else");
  return 0;
}
