// Whatever a Range header says, what is selected lies inside the file, does not overlap and is
// bounded.
#include <cstdint>
#include <string_view>

#include "node/worker/filters/byte_ranges.h"
#include "proto/base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace croft::node::worker::filters;
  const std::string_view header(reinterpret_cast<const char*>(data), size);
  for (const std::int64_t file : {0L, 1L, 100L, 0x7fffffffffffffffL}) {
    const RangeSelection selection = SelectRanges(header, file);
    const bool some = selection.kind == RangeSelection::Kind::kSome;
    croft::Check(some == !selection.ranges.empty(), "ranges come with kSome only");
    croft::Check(selection.ranges.size() <= kRangesMax, "ranges are bounded");
    for (std::size_t i = 0; i < selection.ranges.size(); ++i) {
      const ByteRange& range = selection.ranges[i];
      croft::Check(range.first >= 0 && range.first <= range.last && range.last < file,
                   "a range lies inside the file");
      for (std::size_t j = 0; j < i; ++j) {
        const ByteRange& other = selection.ranges[j];
        croft::Check(range.last < other.first || range.first > other.last, "no overlap");
      }
    }
  }
  return 0;
}
