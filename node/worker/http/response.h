// A response as handlers and filters make it: status, headers, and a body of texts and slices of
// one file, in order.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace croft::node::worker::store {
class StoreFile;
}

namespace croft::node::worker::http {

struct Header {
  std::string_view name;  // lower case, a constant
  std::string value;
};

// A text, or where `text` is empty the bytes [offset, offset + length) of the body's file.
struct Piece {
  std::string text{};
  std::int64_t offset = 0;
  std::int64_t length = 0;
};

struct Body {
  std::shared_ptr<store::StoreFile> file;
  // The file's first bytes when they were read together with opening it; may be empty.
  std::string file_start;
  std::vector<Piece> pieces;
};

struct Response {
  int status = 200;
  // IIS's second number (404.3 -> 3), for the log; 0 for none.
  int substatus = 0;
  std::vector<Header> headers;
  // Sent as content-length, also for HEAD; negative sends none (304).
  std::int64_t content_length = -1;
  // Empty for HEAD and 304.
  Body body;

  void Add(std::string_view name, std::string value) {
    headers.push_back({name, std::move(value)});
  }
  std::string* Find(std::string_view name) {
    for (Header& header : headers) {
      if (header.name == name) {
        return &header.value;
      }
    }
    return nullptr;
  }
};

}  // namespace croft::node::worker::http
