// PATH=VALUE: what is set reads back as a text that sets the same.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "croft/v1/site.pb.h"
#include "proto/base/check.h"
#include "proto/contract/field_path.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  using namespace croft::contract;
  const std::size_t equals = text.find('=');
  const std::string_view path = text.substr(0, equals);
  const std::string_view value = equals == std::string_view::npos ? "" : text.substr(equals + 1);
  croft::v1::Site site;
  if (SetField(site, path, value).ok()) {
    const auto shown = GetField(site, path);
    croft::Check(shown.ok(), "what was set cannot be read");
    croft::v1::Site again;
    if (SetField(again, path, *shown).ok()) {
      croft::Check(*GetField(again, path) == *shown, "reading and setting changes the value");
    }
    croft::Check(ClearField(site, path).ok(), "what was set cannot be cleared");
  }
  NearestPath(site, path);
  return 0;
}
