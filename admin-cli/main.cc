#include "admin-cli/command_line.h"

int main(int argc, char** argv) { return croft::admin_cli::RunCommandLine(argc, argv); }
