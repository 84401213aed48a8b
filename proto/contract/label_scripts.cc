#include "proto/contract/label_scripts.h"

#include <unicode/unistr.h>
#include <unicode/uscript.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace croft::contract {
namespace {

using ScriptGroup = std::vector<UScriptCode>;

std::vector<UChar32> Decode(std::string_view text) {
  const auto unicode = icu::UnicodeString::fromUTF8(
      icu::StringPiece(text.data(), static_cast<std::int32_t>(text.size())));
  std::vector<UChar32> points;
  for (std::int32_t i = 0; i < unicode.length(); i = unicode.moveIndex32(i, 1)) {
    points.push_back(unicode.char32At(i));
  }
  return points;
}

UScriptCode ScriptOf(UChar32 point) {
  UErrorCode error = U_ZERO_ERROR;
  return uscript_getScript(point, &error);
}

// Digits, hyphens and marks go with every script.
bool IsNeutral(UChar32 point) {
  const UScriptCode script = ScriptOf(point);
  return (script == USCRIPT_COMMON || script == USCRIPT_INHERITED) &&
         !uscript_hasScript(point, USCRIPT_HIRAGANA) && !uscript_hasScript(point, USCRIPT_HAN);
}

bool IsWrittenIn(const std::vector<UChar32>& points, const ScriptGroup& group) {
  return std::all_of(points.begin(), points.end(), [&](UChar32 point) {
    return std::any_of(group.begin(), group.end(),
                       [&](UScriptCode script) { return uscript_hasScript(point, script) != 0; });
  });
}

std::string NameOf(UChar32 point) {
  const char* name = uscript_getName(ScriptOf(point));
  return name == nullptr ? "an unknown script" : name;
}

}  // namespace

std::string FindMixedScripts(std::string_view label) {
  static const std::vector<ScriptGroup> kTogether = {
      {USCRIPT_LATIN, USCRIPT_HAN, USCRIPT_HIRAGANA, USCRIPT_KATAKANA},
      {USCRIPT_LATIN, USCRIPT_HAN, USCRIPT_BOPOMOFO},
      {USCRIPT_LATIN, USCRIPT_HAN, USCRIPT_HANGUL},
  };
  std::vector<UChar32> points = Decode(label);
  points.erase(std::remove_if(points.begin(), points.end(), IsNeutral), points.end());
  if (points.empty() || IsWrittenIn(points, {ScriptOf(points.front())}) ||
      std::any_of(kTogether.begin(), kTogether.end(),
                  [&](const ScriptGroup& group) { return IsWrittenIn(points, group); })) {
    return {};
  }
  const auto other = std::find_if(points.begin(), points.end(), [&](UChar32 point) {
    return ScriptOf(point) != ScriptOf(points.front());
  });
  return NameOf(points.front()) + " and " + NameOf(other == points.end() ? points.back() : *other);
}

}  // namespace croft::contract
