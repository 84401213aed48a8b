#include "control/domain/page_token.h"

#include <absl/strings/escaping.h>

#include <cstdint>

#include "control/domain/failures.h"
#include "proto/base/error.h"

namespace croft::control::domain {
namespace {

// FNV-1a: a guard against mistakes, not against forgery. A token says nothing its caller could not
// ask.
std::uint32_t Check(std::string_view list, std::string_view after) {
  std::uint32_t hash = 2166136261U;
  const auto add = [&hash](std::string_view text) {
    for (const char c : text) {
      hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
    }
    hash = (hash ^ 0xffU) * 16777619U;
  };
  add(list);
  add(after);
  return hash;
}

}  // namespace

std::string MakePageToken(std::string_view list, std::string_view after) {
  const std::string text = fmt::format("{:08x}{}", Check(list, after), after);
  return absl::WebSafeBase64Escape(absl::string_view(text.data(), text.size()));
}

absl::StatusOr<std::string> ParsePageToken(std::string_view list, std::string_view token) {
  if (token.empty()) {
    return std::string();
  }
  std::string text;
  const bool decoded =
      absl::WebSafeBase64Unescape(absl::string_view(token.data(), token.size()), &text);
  if (!decoded || text.size() < 8 ||
      text.substr(0, 8) != fmt::format("{:08x}", Check(list, text.substr(8)))) {
    return InvalidField("page_token", token,
                        "is not a token of this list; leave it empty to begin anew");
  }
  return text.substr(8);
}

}  // namespace croft::control::domain
