// The grammar: croft VERB TYPE [NAME...] [key=value...] [options].
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "admin-cli/options.h"

namespace CLI {
class App;
}

namespace croft::admin_cli {

// Every verb is known to the grammar; options are added to the verb `verb` alone, which is all that
// one run needs, or to every verb if it is empty. `options` outlives the app.
void BuildGrammar(CLI::App& app, std::string_view verb, Options& options);

// The first word that is no option of croft itself nor an option's value; "" if there is none.
std::string FirstWord(int argc, const char* const* argv);

// Parses into `options`. Nothing: go on; otherwise the exit code, and it has said why.
std::optional<int> ParseCommandLine(int argc, char** argv, Options& options);

}  // namespace croft::admin_cli
