// croft-control: see settings.h for what can be decided, control_process.cc for what is wired to
// what.
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <string>

#include "control/backup/backup.h"
#include "control/commands.h"
#include "control/control_process.h"
#include "control/data_directory.h"
#include "control/database_parent.h"
#include "control/gateway/openapi.h"
#include "control/identity/key_file.h"
#include "control/private_database/private_database.h"
#include "control/settings.h"
#include "proto/base/log.h"

namespace croft::control {
namespace {

int ExitCode(const absl::Status& status) {
  if (status.ok()) {
    return 0;
  }
  std::fprintf(stderr, "croft-control: %s\n", std::string(status.message()).c_str());
  return 1;
}

// Threads inherit the mask, so that only those who wait for these signals get them.
void BlockStopSignals() {
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  sigaddset(&blocked, SIGINT);
  ::pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
}

int RunWithOwnDatabase(const Settings& settings, const identity::SealingKey& key) {
  private_database::Options options;
  options.data_dir = settings.data_dir;
  const auto database = private_database::PrivateDatabase::Start(options);
  return ExitCode(database.ok() ? RunControl(settings, (*database)->url(), key)
                                : database.status());
}

int Run(const Settings& settings) {
  BlockStopSignals();
  const auto lock = OpenDataDirectory(settings);
  if (!lock.ok()) {
    return ExitCode(lock.status());
  }
  const auto key = identity::SealingKey::LoadOrCreate(settings.key_file);
  if (!key.ok()) {
    return ExitCode(key.status());
  }
  const auto run = [&](const std::string& database_url) {
    return ExitCode(RunControl(settings, database_url, *key));
  };
  if (settings.database_url.empty()) {
    return ::geteuid() == 0 ? RunWithDatabaseParent(settings, run)
                            : RunWithOwnDatabase(settings, *key);
  }
  const absl::Status dropped = DropPrivileges(settings);
  return dropped.ok() ? run(settings.database_url) : ExitCode(dropped);
}

int RunCommand(const Command& command) {
  BlockStopSignals();
  log::SetLevel(log::Level::kWarn);
  switch (command.kind) {
    case CommandKind::kBackup:
      return ExitCode(backup::MakeBackup(command.directory, command.settings));
    case CommandKind::kRestore:
      return ExitCode(backup::RestoreBackup(command.directory, command.settings));
    case CommandKind::kVerify:
      return ExitCode(backup::VerifyBackup(command.directory));
    case CommandKind::kOpenApi:
      std::fputs(gateway::BuildOpenApi().c_str(), stdout);
      return 0;
  }
  return 1;
}

}  // namespace
}  // namespace croft::control

int main(int argc, char** argv) {
  try {
    int exit_code = 0;
    if (croft::control::NamesCommand(argc, argv)) {
      const auto command = croft::control::ParseCommand(argc, argv, exit_code);
      return command.has_value() ? croft::control::RunCommand(*command) : exit_code;
    }
    const auto settings = croft::control::ParseSettings(argc, argv, exit_code);
    if (!settings.has_value()) {
      return exit_code;
    }
    croft::log::SetLevel(settings->log_level);
    return croft::control::Run(*settings);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "croft-control: %s\n", error.what());
    return 1;
  }
}
