#include "proto/contract/settings_validation.h"

#include <algorithm>
#include <map>
#include <string>

#include "proto/base/error.h"

namespace croft::contract {
namespace {

bool IsTokenByte(char c) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return (IsLetter(c) || IsDigit(c)) || kMarks.find(c) != std::string_view::npos;
}

bool IsToken(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsTokenByte);
}

// "type/subtype", with parameters after ";" (RFC 9110 §8.3.1).
bool IsMediaType(std::string_view text) {
  const std::string_view essence = text.substr(0, text.find(';'));
  const std::size_t slash = essence.find('/');
  if (slash == std::string_view::npos || text.size() > 200) {
    return false;
  }
  std::string_view subtype = essence.substr(slash + 1);
  while (!subtype.empty() && subtype.back() == ' ') {
    subtype.remove_suffix(1);
  }
  const bool is_printable =
      std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
  return is_printable && IsToken(essence.substr(0, slash)) && IsToken(subtype);
}

bool IsExtension(std::string_view text) {
  return !text.empty() && text.size() <= 32 &&
         std::all_of(text.begin(), text.end(), [](char c) { return IsTokenByte(c) && c != '.'; }) &&
         text == LowerAscii(text);
}

// Of a file name or of a pattern for one.
std::string_view FindSegmentFault(std::string_view text) {
  if (text.empty()) {
    return "is empty";
  }
  if (text.find('/') != std::string_view::npos) {
    return "is one path segment; it may have no slash";
  }
  if (text == "." || text == "..") {
    return "may not be \".\" or \"..\"";
  }
  return text.size() > 255 ? "is longer than 255 bytes" : std::string_view();
}

void CheckSegments(const v1::StringList& list, std::string_view path, ViolationList& violations) {
  for (int i = 0; i < list.values_size(); ++i) {
    if (const auto fault = FindSegmentFault(list.values(i)); !fault.empty()) {
      violations.Add(fmt::format("{}.values[{}]", path, i), list.values(i), fault);
    }
  }
}

void CheckMimeTypes(const v1::StringMap& map, std::string_view path, ViolationList& violations) {
  // In the order of the keys, so that the same input gives the same answer.
  const std::map<std::string, std::string> entries(map.entries().begin(), map.entries().end());
  for (const auto& [extension, type] : entries) {
    const std::string field = fmt::format("{}.entries[{}]", path, Shorten(extension, 40));
    if (!IsExtension(extension)) {
      violations.Add(field, extension,
                     "is no file extension; expected lower case without dots, such as \"html\"");
    }
    if (!type.empty() && !IsMediaType(type)) {
      violations.Add(field, type,
                     "is no media type; expected TYPE/SUBTYPE such as text/html, or empty to "
                     "remove the entry");
    }
  }
}

}  // namespace

void NormalizeSettings(v1::Settings& settings) {
  if (!settings.static_files().has_mime_types()) {
    return;
  }
  auto& entries = *settings.mutable_static_files()->mutable_mime_types()->mutable_entries();
  const std::map<std::string, std::string> given(entries.begin(), entries.end());
  entries.clear();
  for (const auto& [extension, type] : given) {
    std::string key = LowerAscii(extension);
    key.erase(0, key.substr(0, 1) == "." ? 1 : 0);
    entries[key] = type;
  }
}

void ValidateSettings(const v1::Settings& settings, std::string_view path,
                      ViolationList& violations) {
  CheckSegments(settings.default_documents().names(),
                fmt::format("{}.default_documents.names", path), violations);
  const v1::StaticFileSettings& files = settings.static_files();
  CheckSegments(files.hidden_segments(), fmt::format("{}.static_files.hidden_segments", path),
                violations);
  CheckMimeTypes(files.mime_types(), fmt::format("{}.static_files.mime_types", path), violations);
  if (!files.unknown_mime_type().empty() && !IsMediaType(files.unknown_mime_type())) {
    violations.Add(fmt::format("{}.static_files.unknown_mime_type", path),
                   files.unknown_mime_type(),
                   "is no media type; expected TYPE/SUBTYPE such as application/octet-stream, or "
                   "empty to refuse such files");
  }
  if (const std::size_t size = settings.ByteSizeLong(); size > kSettingsLayerBytesMax) {
    violations.Add(path, "",
                   fmt::format("takes {} bytes; at most {} are allowed, so shorten its lists", size,
                               kSettingsLayerBytesMax));
  }
}

}  // namespace croft::contract
