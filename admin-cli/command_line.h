// The grammar: croft VERB TYPE [NAME...] [key=value...] [options].
#pragma once

namespace croft::admin_cli {

// Parses, connects, carries out; returns the process's exit code.
int RunCommandLine(int argc, char** argv);

}  // namespace croft::admin_cli
