// HTTP/1.1 requests as visitors send them: Boost.Beast's parser under a strict policy, so that
// nothing behind the listener can read a request otherwise than the listener did. Refused: bare CR
// or LF, folded lines, Content-Length beside Transfer-Encoding, repeated or odd Content-Length, any
// coding but "chunked", no or two Host fields. No I/O, no allocation but the parser's; fuzzed.
#pragma once

#include <array>
#include <boost/beast/http/basic_parser.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace croft::node::listener {

inline constexpr std::size_t kHeadBytesMax =
    16 * 1024;  // request line and header (HTTP.sys MaxRequestBytes)
inline constexpr std::size_t kHeaderFieldsMax = 100;
inline constexpr std::size_t kMethodBytesMax = 64;

struct HeaderField {
  std::string_view name;  // lower case
  std::string_view value;
  bool forwarded = false;  // end-to-end, and not the listener's own
};

enum class BodyKind : std::uint8_t { kNone, kLength, kChunked };

// Views into the bytes that were parsed.
struct RequestHead {
  std::string_view method;
  std::string_view path;   // raw, "/..." ; "*" for OPTIONS *
  std::string_view query;  // without "?"
  bool has_query = false;
  std::string_view path_and_query;
  std::string_view host;  // Host field, or the authority of an absolute-form target
  std::string_view user_agent;
  std::string_view referer;
  int minor_version = 1;
  bool keep_alive = true;
  bool expects_continue = false;
  BodyKind body = BodyKind::kNone;
  std::uint64_t content_length = 0;
  std::size_t field_count = 0;
  std::array<HeaderField, kHeaderFieldsMax> fields;

  std::span<const HeaderField> headers() const { return {fields.data(), field_count}; }
  // As new, without touching the fields.
  void Clear();
};

// Why the listener answers by itself; `reason` as in HTTP.sys's error log.
struct Refusal {
  int status = 400;
  std::string_view reason;
};

// Looks for the end of a request's head in bytes that arrive piece by piece. Lines must end in CR
// LF and not be folded.
class HeadScanner {
 public:
  enum class Result : std::uint8_t { kNeedMore, kComplete, kBadLine };
  // `bytes` is everything from the request's first byte, longer at each call.
  Result Scan(std::string_view bytes);
  // Length of the head with its empty line. REQUIRES: kComplete.
  std::size_t head_size() const { return scanned_; }
  void Reset() { *this = HeadScanner(); }

 private:
  std::size_t scanned_ = 0;  // up to here lines are complete
};

class RequestParser final : public boost::beast::http::basic_parser<true> {
 public:
  RequestParser();

  // Parses a whole head as HeadScanner found it, and lower-cases its field names in place. nullopt
  // when it is good.
  std::optional<Refusal> ParseHead(std::span<char> bytes, RequestHead& head);

  // Parses body bytes, appending the payload to `sink`; returns how many were consumed. After a
  // refusal the connection is of no more use.
  std::size_t FeedBody(std::string_view bytes, std::string& sink, std::optional<Refusal>& refusal);
  bool BodyDone() const { return is_done(); }

 private:
  using Error = boost::beast::error_code;
  using View = boost::beast::string_view;

  void on_request_impl(boost::beast::http::verb, View method, View target, int version,
                       Error& error) override;
  void on_response_impl(int, View, int, Error&) override {}
  void on_field_impl(boost::beast::http::field id, View name, View value, Error& error) override;
  void on_header_impl(Error&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, Error&) override {}
  std::size_t on_body_impl(View body, Error&) override;
  void on_chunk_header_impl(std::uint64_t, View, Error&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, View body, Error&) override;
  void on_finish_impl(Error&) override {}

  std::optional<Refusal> SplitTarget();
  std::optional<Refusal> Conclude();
  void MarkHopByHop();

  RequestHead* head_ = nullptr;  // while the head is parsed
  std::string* sink_ = nullptr;  // while a body is fed
  std::string_view target_;
  std::string_view connection_;
  std::string_view version_reason_;
  std::optional<Refusal> refusal_;
  int host_fields_ = 0;
  int length_fields_ = 0;
  int coding_fields_ = 0;
};

}  // namespace croft::node::listener
