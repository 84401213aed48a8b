#include "control/settings.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <map>

#include "proto/contract/field_path.h"

namespace croft::control {
namespace {

constexpr const char* kFooter = R"(Examples:
  croft-control --data-dir /var/lib/croft
      A first control: a private PostgreSQL, a certificate authority and an administrator's
      token are made in the data directory. Then:
      CROFT_CONFIG=/var/lib/croft/operator.yaml croft list sites
  croft-control --data-dir /var/lib/croft --listen 0.0.0.0:7443 --advertise control.example
      Reached from other machines as control.example.
  croft-control --data-dir /var/lib/croft --key-file /etc/croft/key \
      --database-url 'postgresql://croft@db1,db2/croft?sslmode=verify-full'
      One of several instances on one PostgreSQL; the key file is the same on each.

Files in the data directory:
  operator.yaml  contexts file of the first operator (0600)
  ca.crt         what nodes and operators trust
  listen         HOST:PORT it listens on, there while it does
  json-listen    the same of the JSON gateway
  key            key-encryption key (0600); part of every backup

Commands (croft-control COMMAND --help has examples of each):
  backup DIR     copies database and keys into DIR while control runs
  restore DIR    makes a data directory, or fills an empty database, from a backup
  verify DIR     compares a backup's files with its checksums
  openapi        prints the API as an OpenAPI document, as GET /openapi.json does

Signals: TERM and INT stop it, the private database included.)";

bool IsAnyAddress(const std::string& host) { return host == "0.0.0.0" || host == "::"; }

std::string Bracketed(const std::string& host) {
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

// "control.example" of "control.example:7443"; a bare host stays as it is.
std::string HostOf(const std::string& text) {
  const auto split = SplitHostPort(text);
  return split.has_value() ? split->host : text;
}

std::string IsHostPort(const std::string& text) {
  return SplitHostPort(text).has_value() ? std::string() : text + " is not HOST:PORT";
}

// 7480 beside a port that was chosen; a free one beside a free one.
std::string DefaultJsonListen(const std::string& listen) {
  const bool any_port = std::stoi(SplitHostPort(listen)->port) == 0;
  return Bracketed(HostOf(listen)) + (any_port ? ":0" : ":7480");
}

struct Kept {
  const char* name;
  const char* help;
  std::chrono::milliseconds least;
};

// `least`: a step must be there until longer ones are made of it, whatever comes late.
void AddKept(CLI::App& app, const Kept& kept, std::chrono::seconds& time) {
  const auto check = [least = kept.least](const std::string& text) {
    const auto parsed = contract::ParseQuantity(text, v1::MILLISECONDS);
    return !parsed.ok() ? std::string(parsed.status().message())
           : *parsed < least.count()
               ? text + " is less than " + contract::FormatQuantity(least.count(), v1::MILLISECONDS)
               : std::string();
  };
  const auto set = [&time](const std::string& text) {
    time = std::chrono::seconds(contract::ParseQuantity(text, v1::MILLISECONDS).value_or(0) / 1000);
  };
  app.add_option_function<std::string>(kept.name, set, kept.help)->type_name("TIME")->check(check);
}

void AddReportOptions(CLI::App& app, Settings& settings) {
  using std::chrono::hours;
  AddKept(app, {"--keep-10s", "How long counter history has steps of 10 s; default 6h", hours(2)},
          settings.history.keep[0]);
  AddKept(app, {"--keep-1m", "How long it has steps of a minute; default 14d", hours(2 * 24)},
          settings.history.keep[1]);
  AddKept(app, {"--keep-1h", "How long it has steps of an hour; default 730d", hours(24)},
          settings.history.keep[2]);
  app.add_option("--metrics-sites", settings.metrics_sites,
                 "Busiest sites, and pools, with metrics of their own at the JSON gateway's "
                 "/metrics; 0 for none")
      ->capture_default_str()
      ->type_name("N")
      ->check(CLI::Range(0, 1000));
  app.add_flag("--metrics-without-token", settings.metrics_for_everyone,
               "Gives /metrics to everyone; otherwise it takes the bearer token of an operator "
               "with VIEWER of organizations/root");
}

void AddOptions(CLI::App& app, Settings& settings) {
  app.add_option("--data-dir", settings.data_dir, "Directory of everything control keeps on disk")
      ->required()
      ->type_name("DIR");
  app.add_option("--listen", settings.listen, "Address of the TLS port; port 0 takes a free one")
      ->capture_default_str()
      ->type_name("HOST:PORT")
      ->check(IsHostPort);
  app.add_option("--json-listen", settings.json_listen,
                 "Address of the JSON gateway (HTTPS); \"\" for none; default --listen's host, "
                 "port 7480")
      ->type_name("HOST:PORT")
      ->check([](const std::string& text) { return text.empty() ? text : IsHostPort(text); });
  app.add_option("--advertise", settings.advertise,
                 "Name by which nodes and operators reach this instance; repeat for more")
      ->type_name("HOST");
  app.add_option(
         "--database-url", settings.database_url,
         "PostgreSQL to use (libpq URL); without it a private one is run. A password is better "
         "given in the environment, which no other user can list")
      ->envname("CROFT_DATABASE_URL")
      ->type_name("URL");
  app.add_option("--key-file", settings.key_file,
                 "Key-encryption key, mode 0600, made if absent; default DATA_DIR/key")
      ->type_name("FILE");
  app.add_option("--run-as", settings.run_as, "Uid to drop to when started by root; 0 stays root")
      ->capture_default_str()
      ->type_name("UID");
  const std::map<std::string, log::Level> levels = {{"debug", log::Level::kDebug},
                                                    {"info", log::Level::kInfo},
                                                    {"warn", log::Level::kWarn},
                                                    {"error", log::Level::kError}};
  app.add_option("--log-level", settings.log_level, "debug, info, warn or error; default info")
      ->type_name("LEVEL")
      ->transform(CLI::CheckedTransformer(levels, CLI::ignore_case).description(""));
}

}  // namespace

std::optional<Settings> ParseSettings(int argc, const char* const* argv, int& exit_code) {
  CLI::App app(
      "Croft's control service: keeps the estate in PostgreSQL, serves operators and feeds nodes.",
      "croft-control");
  app.footer(kFooter);
  app.get_formatter()->column_width(30);
  Settings settings;
  AddOptions(app, settings);
  AddReportOptions(app, settings);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    exit_code = app.exit(error) == 0 ? 0 : 2;
    return std::nullopt;
  }
  while (settings.data_dir.size() > 1 && settings.data_dir.back() == '/') {
    settings.data_dir.pop_back();
  }
  if (app.count("--json-listen") == 0) {
    settings.json_listen = DefaultJsonListen(settings.listen);
  }
  if (settings.key_file.empty()) {
    settings.key_file = settings.data_dir + "/key";
  }
  return settings;
}

std::optional<HostPort> SplitHostPort(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) {
    return std::nullopt;
  }
  HostPort split{.host = text.substr(0, colon), .port = text.substr(colon + 1)};
  const bool digits = !split.port.empty() && split.port.size() <= 5 &&
                      std::ranges::all_of(split.port, [](char c) { return c >= '0' && c <= '9'; });
  if (!digits || std::stoi(split.port) > 65535) {
    return std::nullopt;
  }
  if (split.host.front() == '[' && split.host.back() == ']') {
    split.host = split.host.substr(1, split.host.size() - 2);
  } else if (split.host.find(':') != std::string::npos) {
    return std::nullopt;  // an IPv6 address needs brackets
  }
  return split;
}

std::vector<std::string> CertificateHosts(const Settings& settings, const std::string& machine) {
  std::vector<std::string> hosts = {"localhost", "127.0.0.1", "::1", HostOf(settings.listen),
                                    machine};
  for (const std::string& name : settings.advertise) {
    hosts.push_back(HostOf(name));
  }
  std::vector<std::string> kept;
  for (const std::string& host : hosts) {
    if (!host.empty() && !IsAnyAddress(host) && std::ranges::find(kept, host) == kept.end()) {
      kept.push_back(host);
    }
  }
  return kept;
}

std::string OperatorAddress(const Settings& settings, const std::string& listen, int port) {
  std::string host = HostOf(listen);
  if (IsAnyAddress(host)) {
    host = settings.advertise.empty() ? "127.0.0.1" : HostOf(settings.advertise.front());
  }
  return Bracketed(host) + ":" + std::to_string(port);
}

}  // namespace croft::control
