// Text of any script on a terminal: how many cells it takes, and nothing that the terminal would
// obey. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace croft::admin_cli {

// Cells of a line of UTF-8: wide East Asian characters and emoji take two, combining marks none.
std::size_t DisplayWidth(std::string_view text);

// The text with control characters (C0, DEL, C1, line and paragraph separators, the marks that
// reverse the direction of writing) and bytes that are no UTF-8 written out: "\u001b". Line feeds
// and tabs stay if `lines`.
std::string Visible(std::string_view text, bool lines = false);

}  // namespace croft::admin_cli
