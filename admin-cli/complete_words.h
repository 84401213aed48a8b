// What may stand next on a command line, for a shell's completion: "croft complete -- WORDS".
#pragma once

#include <string>
#include <vector>

namespace croft::admin_cli {

// `words` are those after "croft", the last one unfinished (or empty); a "--" before them is passed
// over. Prints a candidate a line, perhaps a tab and what it means. Asks control for names for at
// most 300 ms; whatever fails is silent. The exit code is 0.
int CompleteWords(std::vector<std::string> words);

}  // namespace croft::admin_cli
