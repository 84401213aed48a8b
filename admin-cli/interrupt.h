// The operator's Ctrl-C, for commands that end cleanly by it. Process-wide.
#pragma once

namespace croft::admin_cli {

// From now on SIGINT and SIGTERM only set what Interrupted() tells; a second one ends the process.
void CatchInterrupts();
bool Interrupted();

}  // namespace croft::admin_cli
