// Entity tags of files and how tags are compared (RFC 9110 §8.8.3). Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace croft::node::worker::http {

// What identifies a state of a file.
struct FileState {
  std::int64_t size = 0;
  std::int64_t mtime_ns = 0;  // since 1970-01-01 UTC
  std::uint64_t inode = 0;
};

// A file changed this lately may change again without a new time: its validators are weak.
inline constexpr std::int64_t kSettledAfterNs = 2'000'000'000;

bool IsSettled(const FileState& file, std::int64_t now_ns);

// "\"size-mtime-inode\"" in hexadecimal; W/ before it while the file is not settled.
std::string BuildEtag(const FileState& file, std::int64_t now_ns);

// `a` and `b` are whole tags, with quotes and W/.
bool StrongMatch(std::string_view a, std::string_view b);
bool WeakMatch(std::string_view a, std::string_view b);

// Takes the next tag off the front of a list such as `"a", W/"b"`; empty at the end of the list or
// at the first thing that is no tag.
std::string_view TakeEtag(std::string_view& list);

}  // namespace croft::node::worker::http
