#include "proto/base/random.h"

#include <sys/random.h>

#include <cerrno>
#include <cstddef>

#include "proto/base/check.h"

namespace croft {
namespace {

void Fill(void* data, std::size_t size) {
  auto* at = static_cast<unsigned char*>(data);
  while (size > 0) {
    const ssize_t got = ::getrandom(at, size, 0);
    if (got < 0) {
      Check(errno == EINTR, "getrandom failed");
      continue;
    }
    at += got;
    size -= static_cast<std::size_t>(got);
  }
}

}  // namespace

std::uint64_t RandomId() {
  std::uint64_t id = 0;
  while (id == 0) {
    Fill(&id, sizeof id);
  }
  return id;
}

std::string RandomHex(int bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string raw(static_cast<std::size_t>(bytes), '\0');
  Fill(raw.data(), raw.size());
  std::string text;
  text.reserve(raw.size() * 2);
  for (const char c : raw) {
    const auto byte = static_cast<unsigned char>(c);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace croft
