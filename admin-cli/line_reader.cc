#include "admin-cli/line_reader.h"

#include <streambuf>

namespace croft::admin_cli {

LineRead ReadLine(std::istream& input, std::size_t bytes_max, std::string& line) {
  using Traits = std::streambuf::traits_type;
  line.clear();
  std::streambuf& buffer = *input.rdbuf();
  bool any = false;
  bool too_long = false;
  for (;;) {
    const auto next = buffer.sbumpc();
    if (Traits::eq_int_type(next, Traits::eof())) {
      if (!any) {
        input.setstate(std::ios::eofbit);
        return LineRead::kEnd;
      }
      break;
    }
    any = true;
    const char c = Traits::to_char_type(next);
    if (c == '\n') {
      break;
    }
    if (line.size() < bytes_max) {
      line += c;
    } else {
      too_long = true;
    }
  }
  return too_long ? LineRead::kTooLong : LineRead::kLine;
}

}  // namespace croft::admin_cli
