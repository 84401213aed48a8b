#include "node/worker/http/etag.h"

#include <charconv>

namespace croft::node::worker::http {
namespace {

void AppendHex(std::string& out, std::uint64_t value) {
  char digits[20];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, value, 16).ptr);
}

std::string_view WithoutWeak(std::string_view tag) {
  return tag.starts_with("W/") ? tag.substr(2) : tag;
}

// etagc: everything printable but the quote, and bytes above 0x7f.
bool IsTagCharacter(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte > 0x20 && byte != 0x7f && c != '"';
}

}  // namespace

bool IsSettled(const FileState& file, std::int64_t now_ns) {
  return now_ns - file.mtime_ns >= kSettledAfterNs;
}

std::string BuildEtag(const FileState& file, std::int64_t now_ns) {
  std::string tag;
  tag.reserve(48);
  tag += IsSettled(file, now_ns) ? "\"" : "W/\"";
  AppendHex(tag, static_cast<std::uint64_t>(file.size));
  tag += '-';
  AppendHex(tag, static_cast<std::uint64_t>(file.mtime_ns));
  tag += '-';
  AppendHex(tag, file.inode);
  tag += '"';
  return tag;
}

bool StrongMatch(std::string_view a, std::string_view b) {
  return !a.empty() && a == b && !a.starts_with("W/");
}

bool WeakMatch(std::string_view a, std::string_view b) {
  return !a.empty() && WithoutWeak(a) == WithoutWeak(b);
}

std::string_view TakeEtag(std::string_view& list) {
  const std::size_t start = list.find_first_not_of(" \t,");
  if (start == std::string_view::npos) {
    list = {};
    return {};
  }
  list.remove_prefix(start);
  const std::size_t quote = list.starts_with("W/") ? 2 : 0;
  std::size_t end = quote + 1;
  while (end < list.size() && IsTagCharacter(list[end])) {
    ++end;
  }
  if (list.size() <= quote || list[quote] != '"' || end >= list.size() || list[end] != '"') {
    list = {};
    return {};
  }
  const std::string_view tag = list.substr(0, end + 1);
  list.remove_prefix(end + 1);
  return tag;
}

}  // namespace croft::node::worker::http
