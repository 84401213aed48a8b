// The verbs of the command line: one table for the grammar, the help and what is carried out.
#pragma once

#include <vector>

#include "admin-cli/invocation.h"

namespace croft::admin_cli {

struct Verb {
  const char* name;
  const char* summary;
  const char* examples;
  Command command;
  bool wants_type = true;
};

// In the order of the help.
const std::vector<Verb>& AllVerbs();

}  // namespace croft::admin_cli
