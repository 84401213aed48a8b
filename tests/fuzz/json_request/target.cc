// JSON requests: what is read is written by protobuf, and that reads to the same.
#include <google/protobuf/util/json_util.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "croft/v1/resource.pb.h"
#include "proto/base/check.h"
#include "proto/contract/strict_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  using namespace croft::contract;
  croft::v1::ApplyResourcesRequest request;
  if (!ReadStrictJson(text, request).violations.empty()) {
    return 0;
  }
  std::string json;
  if (!google::protobuf::util::MessageToJsonString(request, &json).ok()) {
    return 0;  // a time beyond what JSON has
  }
  croft::v1::ApplyResourcesRequest again;
  croft::Check(ReadStrictJson(json, again).violations.empty(), "what is written cannot be read");
  std::string same;
  croft::Check(google::protobuf::util::MessageToJsonString(again, &same).ok() && same == json,
               "writing and reading changes the message");
  return 0;
}
