#include "control/commands.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <string_view>

namespace croft::control {
namespace {

struct CommandFacts {
  std::string_view name;
  CommandKind kind;
  const char* what;
  const char* footer;
};

constexpr auto kCommands = std::to_array<CommandFacts>({
    {"backup", CommandKind::kBackup,
     "Copies the database, as it is at one moment, and the keys into DIR, while control runs.",
     R"(Examples:
  croft-control backup /backup/croft-monday --data-dir /var/lib/croft
      Of a control with a private PostgreSQL; it may run or not.
  CROFT_DATABASE_URL='postgresql://croft:...@db1/croft' \
      croft-control backup /backup/croft-monday --data-dir /var/lib/croft --key-file /etc/croft/key
      Of the database of several instances, on one of them. Nobody sees the password.

DIR appears when all of it is there and on disk; until then it is DIR.unfinished. It holds
  database.dump         of pg_dump (custom format)
  key                   the key-encryption key: whoever reads DIR can act as control
  operator.yaml ca.crt  of the data directory
  manifest.json         time, revision, schema, size and SHA-256 of every file)"},
    {"restore", CommandKind::kRestore,
     "Checks the backup DIR and restores it into a new data directory, as a new history.",
     R"(Examples:
  croft-control restore /backup/croft-monday --data-dir /var/lib/croft-new
      With a private PostgreSQL. Then run croft-control with that data directory, --listen and
      --advertise as before: nodes find it and know its certificate authority.
  CROFT_DATABASE_URL='postgresql://croft:...@db2/croft' \
      croft-control restore /backup/croft-monday --data-dir /var/lib/croft-new
      Into an empty database: all of it or nothing.

Nothing is touched that is there: data directory and database must be new or empty. Until all is
restored the data directory is NEW.unfinished; what a killed restore leaves of it the next one
removes. Nodes serve on what they have, then take what was restored; a node that would lose most
of its sites asks first (croft list nodes).)"},
    {"verify", CommandKind::kVerify,
     "Compares every file of the backup DIR with its manifest, and prints name, size and SHA-256.",
     R"(Examples:
  croft-control verify /backup/croft-monday && echo whole)"},
    {"openapi", CommandKind::kOpenApi, "Prints the API as an OpenAPI document.",
     R"(Examples:
  croft-control openapi > croft.json)"},
});

const CommandFacts* FindCommand(int argc, const char* const* argv) {
  if (argc < 2) {
    return nullptr;
  }
  const auto* found = std::ranges::find(kCommands, std::string_view(argv[1]), &CommandFacts::name);
  return found == kCommands.end() ? nullptr : found;
}

void StripSlashes(std::string& path) {
  while (path.size() > 1 && path.back() == '/') {
    path.pop_back();
  }
}

void AddOptions(CLI::App& app, Command& command) {
  if (command.kind == CommandKind::kOpenApi) {
    return;
  }
  app.add_option("DIR", command.directory, "Directory of the backup")->required();
  if (command.kind == CommandKind::kVerify) {
    return;
  }
  const bool restores = command.kind == CommandKind::kRestore;
  Settings& settings = command.settings;
  app.add_option("--data-dir", settings.data_dir,
                 restores ? "Data directory to make" : "Data directory that control runs with")
      ->required()
      ->type_name(restores ? "NEW" : "DIR");
  app.add_option("--database-url", settings.database_url,
                 "PostgreSQL beside it (libpq URL); without it the private one. A password is "
                 "better given in the environment")
      ->envname("CROFT_DATABASE_URL")
      ->type_name("URL");
  app.add_option("--key-file", settings.key_file,
                 "Key-encryption key, if it lies elsewhere than in the data directory")
      ->type_name("FILE");
  app.add_option("--run-as", settings.run_as, "Uid that control runs as when started by root")
      ->capture_default_str()
      ->type_name("UID");
}

}  // namespace

bool NamesCommand(int argc, const char* const* argv) { return FindCommand(argc, argv) != nullptr; }

std::optional<Command> ParseCommand(int argc, const char* const* argv, int& exit_code) {
  const CommandFacts& facts = *FindCommand(argc, argv);
  CLI::App app(facts.what, "croft-control " + std::string(facts.name));
  app.footer(facts.footer);
  app.get_formatter()->column_width(30);
  Command command{.kind = facts.kind, .directory = {}, .settings = {}};
  AddOptions(app, command);
  try {
    app.parse(argc - 1, argv + 1);
  } catch (const CLI::ParseError& error) {
    exit_code = app.exit(error) == 0 ? 0 : 2;
    return std::nullopt;
  }
  StripSlashes(command.directory);
  StripSlashes(command.settings.data_dir);
  if (command.settings.key_file.empty()) {
    command.settings.key_file = command.settings.data_dir + "/key";
  }
  return command;
}

}  // namespace croft::control
