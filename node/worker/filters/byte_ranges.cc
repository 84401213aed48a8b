#include "node/worker/filters/byte_ranges.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "proto/base/random.h"

namespace croft::node::worker::filters {
namespace {

std::string_view Trim(std::string_view text) {
  const std::size_t start = text.find_first_not_of(" \t");
  if (start == std::string_view::npos) {
    return {};
  }
  return text.substr(start, text.find_last_not_of(" \t") - start + 1);
}

// Names of range units know no case.
bool IsBytesUnit(std::string_view unit) {
  constexpr std::string_view kBytes = "bytes";
  return std::equal(unit.begin(), unit.end(), kBytes.begin(), kBytes.end(),
                    [](char given, char lower) { return (given | 0x20) == lower; });
}

// Digits only; a number too large becomes the largest.
std::optional<std::int64_t> ParsePosition(std::string_view digits) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  if (digits.empty()) {
    return std::nullopt;
  }
  std::int64_t value = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') {
      return std::nullopt;
    }
    value = value > (kMax - 9) / 10 ? kMax : value * 10 + (c - '0');
  }
  return value;
}

enum class SpecKind { kInvalid, kUnsatisfiable, kSatisfiable };

SpecKind ParseSpec(std::string_view spec, std::int64_t size, ByteRange& range) {
  const std::size_t dash = spec.find('-');
  if (dash == std::string_view::npos) {
    return SpecKind::kInvalid;
  }
  const auto last = ParsePosition(spec.substr(dash + 1));
  if (dash == 0) {
    if (!last.has_value()) {
      return SpecKind::kInvalid;
    }
    range = {std::max<std::int64_t>(size - *last, 0), size - 1};
    return *last == 0 ? SpecKind::kUnsatisfiable : SpecKind::kSatisfiable;
  }
  const auto first = ParsePosition(spec.substr(0, dash));
  const bool open_ended = dash + 1 == spec.size();
  if (!first.has_value() || (!open_ended && (!last.has_value() || *last < *first))) {
    return SpecKind::kInvalid;
  }
  range = {*first, open_ended ? size - 1 : std::min(*last, size - 1)};
  return *first >= size ? SpecKind::kUnsatisfiable : SpecKind::kSatisfiable;
}

void MergeOverlaps(std::vector<ByteRange>& ranges) {
  std::vector<ByteRange> sorted = ranges;
  std::sort(sorted.begin(), sorted.end(),
            [](const ByteRange& a, const ByteRange& b) { return a.first < b.first; });
  std::vector<ByteRange> merged;
  for (const ByteRange& range : sorted) {
    if (!merged.empty() && range.first <= merged.back().last + 1) {
      merged.back().last = std::max(merged.back().last, range.last);
    } else {
      merged.push_back(range);
    }
  }
  if (merged.size() != ranges.size()) {
    ranges = std::move(merged);
  }
}

std::string ContentRange(const ByteRange& range, std::int64_t size) {
  return fmt::format("bytes {}-{}/{}", range.first, range.last, size);
}

http::Piece SliceOf(const ByteRange& range) {
  return {.text = {}, .offset = range.first, .length = range.last - range.first + 1};
}

std::string NextBoundary() {
  static const std::uint64_t process = RandomId();
  static std::atomic<std::uint64_t> count{0};
  return fmt::format("{:016x}{:08x}", process, count.fetch_add(1, std::memory_order_relaxed));
}

void MakeMultipart(const std::vector<ByteRange>& ranges, std::int64_t size,
                   http::Response& response) {
  std::string* type = response.Find("content-type");
  const std::string part_type = type == nullptr ? std::string() : *type;
  const std::string boundary = NextBoundary();
  std::vector<http::Piece> pieces;
  std::int64_t length = 0;
  const auto add_text = [&](std::string text) {
    length += static_cast<std::int64_t>(text.size());
    pieces.push_back({.text = std::move(text)});
  };
  for (const ByteRange& range : ranges) {
    add_text(fmt::format("{}--{}\r\nContent-Type: {}\r\nContent-Range: {}\r\n\r\n",
                         pieces.empty() ? "" : "\r\n", boundary, part_type,
                         ContentRange(range, size)));
    pieces.push_back(SliceOf(range));
    length += pieces.back().length;
  }
  add_text(fmt::format("\r\n--{}--\r\n", boundary));
  if (type != nullptr) {
    *type = "multipart/byteranges; boundary=" + boundary;
  }
  response.content_length = length;
  if (!response.body.pieces.empty()) {
    response.body.pieces = std::move(pieces);
  }
}

}  // namespace

RangeSelection SelectRanges(std::string_view header, std::int64_t size) {
  RangeSelection selection;
  const std::size_t equals = header.find('=');
  if (equals == std::string_view::npos || !IsBytesUnit(Trim(header.substr(0, equals)))) {
    return selection;
  }
  std::string_view rest = header.substr(equals + 1);
  std::size_t specs = 0;
  for (bool more = true; more;) {
    const std::size_t comma = rest.find(',');
    const std::string_view spec = Trim(rest.substr(0, comma));
    more = comma != std::string_view::npos;
    rest = more ? rest.substr(comma + 1) : std::string_view();
    if (spec.empty()) {
      continue;
    }
    ByteRange range;
    const SpecKind kind = ParseSpec(spec, size, range);
    if (kind == SpecKind::kInvalid || ++specs > kRangesMax) {
      selection.ranges.clear();
      return selection;
    }
    if (kind == SpecKind::kSatisfiable) {
      selection.ranges.push_back(range);
    }
  }
  if (specs == 0) {
    return selection;
  }
  if (selection.ranges.empty()) {
    selection.kind = RangeSelection::Kind::kUnsatisfiable;
    return selection;
  }
  if (size == 0) {  // a suffix of nothing cannot be written as a Content-Range
    selection.ranges.clear();
    return selection;
  }
  MergeOverlaps(selection.ranges);
  selection.kind = RangeSelection::Kind::kSome;
  return selection;
}

bool ApplyRanges(std::string_view header, std::int64_t size, http::Response& response) {
  const RangeSelection selection = SelectRanges(header, size);
  switch (selection.kind) {
    case RangeSelection::Kind::kWhole:
      return false;
    case RangeSelection::Kind::kUnsatisfiable:
      response.status = 416;
      response.Add("content-range", fmt::format("bytes */{}", size));
      response.content_length = 0;
      response.body = {};
      return false;
    case RangeSelection::Kind::kSome:
      break;
  }
  response.status = 206;
  if (selection.ranges.size() > 1) {
    MakeMultipart(selection.ranges, size, response);
    return true;
  }
  const ByteRange& range = selection.ranges.front();
  response.Add("content-range", ContentRange(range, size));
  response.content_length = range.last - range.first + 1;
  if (!response.body.pieces.empty()) {
    response.body.pieces = {SliceOf(range)};
  }
  return true;
}

}  // namespace croft::node::worker::filters
