#include "admin-cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "admin-cli/assignments.h"
#include "admin-cli/contexts.h"
#include "admin-cli/invocation.h"
#include "admin-cli/verbs.h"
#include "proto/base/error.h"
#include "proto/contract/field_path.h"

namespace croft::admin_cli {
namespace {

constexpr const char* kFooter =
    "Types: platform organization farm node site pool store account (list: also events, changes; "
    "get: also counters)\n"
    "Their fields: croft explain TYPE. A name without \"/\" is of the farm given by --farm or the "
    "context; sizes and durations take "
    "units (30MB, 20min).\n"
    "\nExit codes: 0 done, 1 differs, 2 usage, 3 not found, 4 exists or conflicts, 5 invalid, 6 "
    "partly done, 7 limit,\n8 not permitted, 9 control unreachable, 10 wait timed out, 11 refused "
    "by a node, 12 precondition failed.\n"
    "\nEnvironment: CROFT_CONFIG (contexts file), CROFT_CONTEXT, CROFT_CONTROL, CROFT_TOKEN.\n"
    "\nExamples:\n"
    "  croft list nodes\n"
    "  croft create site shop bindings=*:80:shop.example root=content:shop pool=php "
    "--wait=serving\n"
    "  croft explain url http://shop.example/\n"
    "  croft set --help\n";

struct Options {
  std::string context, farm, format, wait = "accepted", timeout = "30s";
  std::string type;
  std::vector<std::string> arguments;
  Invocation invocation;
};

void AddOptionsOfFiles(CLI::App& app, Invocation& invocation) {
  app.add_option("-f,--file", invocation.files,
                 "apply, diff: a file, a directory, or - for stdin; more than once")
      ->allow_extra_args(false);
  app.add_option("--prune-selector", invocation.prune_selector,
                 "apply, diff: delete what has these labels and is not in the files (app=shop)");
  app.add_option("--expect-pruned", invocation.expect_pruned,
                 "apply: how many that is; without it you are asked");
  app.add_option("--field-manager", invocation.field_manager,
                 "Whose the fields become that are set here (apply: \"apply\")");
  app.add_flag("--force", invocation.force,
               "Take over fields of other managers; undo: what later changes did, too");
  app.add_option("--errors", invocation.errors_file, "import: refused rows as CSV");
}

void AddOptionsOfMany(CLI::App& app, Invocation& invocation) {
  app.add_flag("--all", invocation.all, "set, delete: every one; watch: what exists first");
  app.add_option("--filter", invocation.filter,
                 "set, delete, export, watch: which ones (state = STOPPED AND labels.app = shop)");
  app.add_option("-l,--selector", invocation.selector, "The same by labels: app=shop,tier=web");
  app.add_flag("--no-wait", invocation.no_wait, "set, delete of many: print the operation only");
  app.add_flag("--running", invocation.running, "list operations: those under way");
  app.add_option("--object", invocation.object,
                 "list and watch events, list changes: of this object (site/shop)");
  app.add_option("--who", invocation.who, "list changes: of this operator");
  app.add_option("--since", invocation.since,
                 "list events and changes, get counters: no older (2h, or a time)");
  app.add_option("--step", invocation.step, "get counters --since: length of a step (5min)");
  app.add_option("--resume", invocation.resume_token, "watch: where an earlier one ended");
}

void AddOptions(CLI::App& app, Options& options) {
  app.add_option("--context", options.context, "Context of the contexts file");
  app.add_option("--farm", options.farm, "Farm of names without \"/\" (default: the context's)");
  app.add_option("-o,--output", options.format,
                 "table, wide, json, jsonl, yaml, csv or name (default table)");
  app.add_option("--wait", options.wait,
                 "After a write: accepted (committed), applied (in every replica) or serving "
                 "(every listener answers from it)")
      ->check(CLI::IsMember({"accepted", "applied", "serving"}));
  app.add_option("--timeout", options.timeout, "Longest wait (default 30s)");
  app.add_flag("--dry-run,--validate-only", options.invocation.validate_only,
               "Check everything, change nothing");
  app.add_flag("--replace", options.invocation.replace,
               "set: fields that are not named go back to their defaults");
  app.add_option("--expect-count", options.invocation.expect,
                 "A command on more than 100 objects wants their number here; resume node: the "
                 "sites that may vanish");
  app.add_option("--if-etag", options.invocation.if_etag, "Refuse unless the object has this etag");
  app.add_option("--request-id", options.invocation.request_id,
                 "The same id and request get the same answer, for 24 hours");
  app.add_option("--reason", options.invocation.reason, "Kept with the change for the auditor");
  app.add_option("--node", options.invocation.node, "get counters: only this node's");
  app.add_option("--ip", options.invocation.ip, "explain url: address the request arrives at");
  app.add_option("--order-by", options.invocation.order_by, "top: counter to sort by");
  app.add_option("--limit", options.invocation.limit,
                 "top, history, watch, list events, changes and operations: most rows");
  AddOptionsOfFiles(app, options.invocation);
  AddOptionsOfMany(app, options.invocation);
}

void AddVerbs(CLI::App& app, Options& options) {
  for (const Verb& verb : AllVerbs()) {
    CLI::App* command = app.add_subcommand(verb.name, verb.summary);
    command->fallthrough();
    command->footer(
        "Options of croft itself (--wait, -o, --farm, ...): croft --help\n\nExamples:\n" +
        std::string(verb.examples));
    command->add_option("TYPE", options.type, "What kind of object")->required(verb.wants_type);
    command->add_option("NAME", options.arguments, "Names, and key=value assignments");
    command->final_callback([&options, &verb] { options.invocation.verb = verb.name; });
  }
  app.require_subcommand(1);
}

// Verbs that take key=value; elsewhere one is a mistake that must not be passed over.
bool TakesAssignments(const Invocation& invocation) {
  return invocation.verb == "create" || invocation.verb == "set" || invocation.verb == "explain";
}

bool Reads(const std::string& verb) {
  return verb == "list" || verb == "get" || verb == "describe" || verb == "explain" ||
         verb == "top" || verb == "wait" || verb == "history" || verb == "watch" ||
         verb == "export" || verb == "diff" || verb == "apply" || verb == "import";
}

// Whether --expect-count is the number of objects named.
bool CountsObjects(const Invocation& invocation) {
  return !Reads(invocation.verb) && invocation.verb != "undo" && !IsBulk(invocation) &&
         !(invocation.verb == "resume" && invocation.type.starts_with("node"));
}

// What the grammar alone can't refuse.
absl::Status CheckUsage(const Invocation& invocation) {
  constexpr std::size_t kUnaskedMax = 100;
  if (!invocation.assignments.empty() && !TakesAssignments(invocation)) {
    return Error(absl::StatusCode::kUnimplemented, "{} takes no key=value: \"{}\"", invocation.verb,
                 invocation.assignments[0]);
  }
  const std::size_t count = invocation.names.size();
  const bool counted = invocation.expect != 0;
  if (CountsObjects(invocation) && (count > kUnaskedMax || counted) &&
      static_cast<std::size_t>(invocation.expect) != count) {
    return Error(absl::StatusCode::kUnimplemented,
                 "that touches {} objects{}; say --expect-count {} if it is meant, or go {} at a "
                 "time (xargs -n {})",
                 count, counted ? fmt::format(", not {}", invocation.expect) : "", count,
                 kUnaskedMax, kUnaskedMax);
  }
  if (invocation.replace && invocation.verb != "set") {
    return Error(absl::StatusCode::kUnimplemented, "--replace goes with set");
  }
  return absl::OkStatus();
}

// The first word that is no option of croft itself nor an option's value; "" if there is none.
std::string FirstWord(int argc, char** argv) {
  constexpr std::string_view kFlags[] = {
      "-h",        "--help",  "--version", "--dry-run", "--validate-only",
      "--replace", "--force", "--all",     "--no-wait", "--running"};
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (!word.starts_with("-")) {
      return word;
    }
    const bool flag = std::find(std::begin(kFlags), std::end(kFlags), word) != std::end(kFlags);
    if (!flag && word.find('=') == std::string::npos) {
      ++i;
    }
  }
  return "";
}

// "frobnicate" is no verb: CLI11 alone would only say that one is missing.
bool RefuseUnknownVerb(const std::string& word) {
  std::string verbs;
  for (const Verb& verb : AllVerbs()) {
    if (word.empty() || word == verb.name) {
      return false;
    }
    verbs += (verbs.empty() ? "" : ", ") + std::string(verb.name);
  }
  std::fprintf(stderr, "croft: no verb \"%s\"; there are: %s\n", word.c_str(), verbs.c_str());
  return true;
}

// Fills the invocation from the options; the context's farm is the default.
absl::Status Complete(Options& options, const Context& context) {
  Invocation& invocation = options.invocation;
  invocation.type = options.type;
  invocation.farm = options.farm.empty() ? context.farm : options.farm;
  if (invocation.farm.starts_with("farms/")) {
    invocation.farm.erase(0, std::string("farms/").size());
  }
  for (std::string& argument : options.arguments) {
    (IsAssignment(argument) ? invocation.assignments : invocation.names)
        .push_back(std::move(argument));
  }
  if (options.format.empty()) {
    options.format = invocation.verb == "describe" ? "yaml" : "table";
  }
  const auto format = ParseFormat(options.format);
  if (!format.ok()) {
    return format.status();
  }
  invocation.format = *format;
  invocation.wait = options.wait == "serving"   ? v1::SERVING
                    : options.wait == "applied" ? v1::APPLIED
                                                : v1::ACCEPTED;
  const auto timeout = contract::ParseQuantity(options.timeout, v1::MILLISECONDS);
  if (!timeout.ok() || *timeout <= 0) {
    return Error(absl::StatusCode::kUnimplemented, "--timeout: \"{}\" is no duration like 30s",
                 options.timeout);
  }
  invocation.timeout_ms = *timeout;
  return CheckUsage(invocation);
}

bool IsOperation(const std::string& type) { return type == "operation" || type == "operations"; }

Command CommandOf(const Invocation& invocation) {
  if (invocation.type == "counters" && invocation.verb == "get") {
    return GetCounters;
  }
  if (invocation.verb == "list" && (invocation.type == "events" || invocation.type == "event")) {
    return ListEvents;
  }
  if (invocation.verb == "list" && (invocation.type == "changes" || invocation.type == "change")) {
    return ListChanges;
  }
  if (IsOperation(invocation.type) && (invocation.verb == "list" || invocation.verb == "get")) {
    return invocation.verb == "list" ? ListOperations : GetOperations;
  }
  if (invocation.verb == "get" && (invocation.type == "changes" || invocation.type == "change")) {
    return GetChange;
  }
  if (IsBulk(invocation) && invocation.verb == "set") {
    return SetMany;
  }
  if (IsBulk(invocation) && invocation.verb == "delete") {
    return DeleteMany;
  }
  for (const Verb& verb : AllVerbs()) {
    if (invocation.verb == verb.name) {
      return verb.command;
    }
  }
  return nullptr;
}

}  // namespace

int RunCommandLine(int argc, char** argv) {
  CLI::App app(
      "Croft: web hosting for many small sites, run from one place.\n"
      "croft VERB TYPE [NAME...] [key=value...]",
      "croft");
  app.set_version_flag("--version", "croft 0.1.0");
  app.footer(kFooter);
  Options options;
  AddOptions(app, options);
  AddVerbs(app, options);
  if (RefuseUnknownVerb(FirstWord(argc, argv))) {
    return static_cast<int>(ExitCode::kUsage);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? 0 : static_cast<int>(ExitCode::kUsage);
  }
  if (options.invocation.verb == "explain" && options.type != "url") {
    const absl::Status status = Complete(options, Context{});
    return static_cast<int>(status.ok() ? ExplainType(options.invocation) : Fail(status));
  }
  const auto context = LoadContext(options.context);
  if (!context.ok()) {
    std::fprintf(stderr, "croft: %s\n", std::string(context.status().message()).c_str());
    return static_cast<int>(ExitCode::kUsage);
  }
  if (auto status = Complete(options, *context); !status.ok()) {
    return static_cast<int>(Fail(status));
  }
  ApiClient client(*context);
  return static_cast<int>(CommandOf(options.invocation)(client, options.invocation));
}

}  // namespace croft::admin_cli
