// What the operator decides about a croft-control process. Constant after parsing.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "control/store/counter_history.h"
#include "proto/base/log.h"

namespace croft::control {

struct Settings {
  // Everything control keeps on disk: key, CA, the first operator's context, the private database.
  std::string data_dir;
  // HOST:PORT of the one TLS port; port 0 takes a free one, told in DATA_DIR/listen.
  std::string listen = "127.0.0.1:7443";
  // HOST:PORT of the JSON gateway, told in DATA_DIR/json-listen; empty: there is none. Unless
  // given: `listen`'s host, and port 7480, or a free one where `listen` takes a free one.
  std::string json_listen;
  // Names and addresses by which operators and nodes reach this instance; they go into its
  // certificate.
  std::vector<std::string> advertise;
  // libpq URL or connection string; empty: a private PostgreSQL in the data directory.
  std::string database_url;
  // Key-encryption key, the same for every instance on one database; default DATA_DIR/key.
  std::string key_file;
  // How long steps of counter history are kept, by their length.
  store::HistoryRetention history;
  // Sites that have metrics of their own at GET /metrics: the busiest ones.
  int metrics_sites = 50;
  // GET /metrics needs no token.
  bool metrics_for_everyone = false;
  // Identity control drops to when started by root; 0 stays root.
  uid_t run_as = 57000;
  log::Level log_level = log::Level::kInfo;
};

// nullopt: the process is to end with `exit_code` (help was printed, or an error with its way out).
std::optional<Settings> ParseSettings(int argc, const char* const* argv, int& exit_code);

// Host and port of "127.0.0.1:7443", "[::1]:7443" or "control.example:7443"; the host without
// brackets.
struct HostPort {
  std::string host;
  std::string port;
};
std::optional<HostPort> SplitHostPort(const std::string& text);

// The names a server certificate must have: where it listens, what is advertised, and this machine.
std::vector<std::string> CertificateHosts(const Settings& settings, const std::string& machine);

// Where operators of this machine reach what listens on `listen`, now that its port is known:
// HOST:PORT.
std::string OperatorAddress(const Settings& settings, const std::string& listen, int port);

}  // namespace croft::control
