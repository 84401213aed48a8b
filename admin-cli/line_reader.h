// Lines of untrusted text, with bounded memory.
#pragma once

#include <cstddef>
#include <istream>
#include <string>

namespace croft::admin_cli {

enum class LineRead { kLine, kTooLong, kEnd };

// The next line without its line feed. One longer than `bytes_max` is passed over; `line` has its
// beginning.
LineRead ReadLine(std::istream& input, std::size_t bytes_max, std::string& line);

}  // namespace croft::admin_cli
