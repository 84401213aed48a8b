// The verbs of the command line: one table for the grammar, the help and what is carried out.
#pragma once

#include <vector>

#include "admin-cli/invocation.h"

namespace croft::admin_cli {

struct Verb {
  const char* name;
  const char* summary;
  const char* examples;
  // Groups of options.h, in the order of the help; "general" comes with every verb.
  const char* options;
  Command command;
  bool wants_type = true;
  // Instead of `command`, where no control is asked.
  LocalCommand local = nullptr;
};

// In the order of the help.
const std::vector<Verb>& AllVerbs();

}  // namespace croft::admin_cli
