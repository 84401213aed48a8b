#include "admin-cli/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>

#include "admin-cli/assignments.h"
#include "admin-cli/names_input.h"
#include "proto/base/check.h"
#include "proto/base/error.h"
#include "proto/contract/field_path.h"
#include "proto/contract/resource_name.h"

namespace croft::admin_cli {
namespace {

struct OptionGroup {
  std::string_view name;
  void (*add)(CLI::App& app, Options& options);
};

void AddGeneral(CLI::App& app, Options& options) {
  app.add_option("--context", options.context, "Context of the contexts file");
  app.add_option("--farm", options.farm,
                 "Farm of names without \"/\" (default: the context's; - for all where a list is)");
  app.add_option("--timeout", options.timeout, "Longest wait (default 30s)");
}

void AddOutput(CLI::App& app, Options& options) {
  app.add_option("-o,--output", options.format,
                 "table, wide, json, jsonl, yaml, csv or name (default table)");
}

void AddRows(CLI::App& app, Options& options) {
  app.add_option("--columns", options.invocation.columns,
                 "Fields to show, with commas: name,state,labels.tier (croft explain TYPE)");
  app.add_flag("--no-headers", options.invocation.no_headers, "No line of titles above the rows");
}

void AddFilter(CLI::App& app, Options& options) {
  app.add_option("--filter", options.invocation.filter,
                 "Those for which this holds: 'state = STOPPED AND labels.app = shop'");
  app.add_option("-l,--selector", options.invocation.selector,
                 "Those with these labels: tier=web,env!=test,owner (there at all)");
}

void AddSort(CLI::App& app, Options& options) {
  app.add_option("--sort", options.invocation.sort,
                 "name or create_time, with \" desc\" for the other direction");
}

void AddDeleted(CLI::App& app, Options& options) {
  app.add_flag("--show-deleted", options.invocation.show_deleted,
               "Also deleted ones that can still be undeleted");
}

void AddLimit(CLI::App& app, Options& options) {
  app.add_option("--limit", options.invocation.limit, "Most rows")->check(CLI::PositiveNumber);
}

void AddOrder(CLI::App& app, Options& options) {
  app.add_option("--order-by,--sort", options.invocation.order_by, "Counter to sort by");
}

void AddWait(CLI::App& app, Options& options) {
  app.add_option("--wait", options.wait,
                 "After a write: accepted (committed), applied (in every replica) or serving "
                 "(every listener answers from it)")
      ->check(CLI::IsMember({"accepted", "applied", "serving"}));
}

void AddWrite(CLI::App& app, Options& options) {
  app.add_flag("--dry-run,--validate-only", options.invocation.validate_only,
               "Check everything, change nothing");
  app.add_option("--request-id", options.invocation.request_id,
                 "The same id and request get the same answer, for 24 hours");
  app.add_option("--reason", options.invocation.reason, "Kept with the change for the auditor");
}

void AddOwner(CLI::App& app, Options& options) {
  app.add_option("--field-manager", options.invocation.field_manager,
                 "Whose the fields become that are set here (apply: \"apply\")");
}

void AddForce(CLI::App& app, Options& options) {
  app.add_flag("--force", options.invocation.force, "Take over fields of other managers");
}

void AddForceUndo(CLI::App& app, Options& options) {
  app.add_flag("--force", options.invocation.force, "Undo what later changes did, too");
}

void AddEtag(CLI::App& app, Options& options) {
  app.add_option("--if-etag", options.invocation.if_etag, "Refuse unless the object has this etag");
}

void AddCount(CLI::App& app, Options& options) {
  app.add_option("--expect-count", options.invocation.expect,
                 "How many objects are meant; wanted above 100");
}

void AddVanishing(CLI::App& app, Options& options) {
  app.add_option("--expect-count", options.invocation.expect,
                 "Accounts: how many are meant, wanted above 100. Node: the sites that may vanish");
}

void AddInput(CLI::App& app, Options& options) {
  app.add_option("-f,--file", options.invocation.files,
                 "Also the objects in this file, or - for stdin, as croft list prints them with "
                 "-o name, jsonl, json or csv; their names say the TYPE")
      ->allow_extra_args(false);
}

void AddAbsent(CLI::App& app, Options& options) {
  app.add_flag("--if-absent", options.invocation.if_absent, "Leave one that is there as it is");
}

void AddMissing(CLI::App& app, Options& options) {
  app.add_flag("--ignore-missing", options.invocation.ignore_missing,
               "One that is not there is no error");
}

void AddUid(CLI::App& app, Options& options) {
  app.add_option("--uid", options.invocation.uid,
                 "Which one, when several of that name were deleted (default: the last)");
}

void AddEffective(CLI::App& app, Options& options) {
  app.add_flag("--effective", options.invocation.effective,
               "Sites, accounts, pools: the settings in force, and where each comes from");
}

void AddReplace(CLI::App& app, Options& options) {
  app.add_flag("--replace", options.invocation.replace,
               "Fields that are not named go back to their defaults");
}

void AddFiles(CLI::App& app, Options& options) {
  app.add_option("-f,--file", options.invocation.files,
                 "A file, a directory, or - for stdin; more than once")
      ->allow_extra_args(false);
}

void AddPrune(CLI::App& app, Options& options) {
  app.add_option("--prune-selector", options.invocation.prune_selector,
                 "Delete what has these labels and is not in the files (app=shop)");
  app.add_option("--expect-pruned", options.invocation.expect_pruned,
                 "How many that is; without it you are asked");
}

void AddMany(CLI::App& app, Options& options) {
  app.add_flag("--all", options.invocation.all, "Every one of the type");
  app.add_option("--filter", options.invocation.filter,
                 "Every one for which this holds: 'state = STOPPED AND labels.app = shop'");
  app.add_option("-l,--selector", options.invocation.selector,
                 "Every one with these labels: app=shop,tier!=web");
  app.add_flag("--no-wait", options.invocation.no_wait,
               "Of many: print the operation's name and go");
}

void AddErrors(CLI::App& app, Options& options) {
  app.add_option("--errors", options.invocation.errors_file, "Refused rows as CSV, to this file");
}

void AddRunning(CLI::App& app, Options& options) {
  app.add_flag("--running", options.invocation.running, "Operations: those under way");
}

void AddObject(CLI::App& app, Options& options) {
  app.add_option("--object", options.invocation.object,
                 "Events and changes: of this object (site/shop)");
}

void AddWho(CLI::App& app, Options& options) {
  app.add_option("--who", options.invocation.who, "Changes: of this operator");
}

void AddSince(CLI::App& app, Options& options) {
  app.add_option("--since", options.invocation.since,
                 "Events, changes, counters: no older (2h, or a time)");
}

void AddCounters(CLI::App& app, Options& options) {
  app.add_option("--step", options.invocation.step, "Counters --since: length of a step (5min)");
  app.add_option("--node", options.invocation.node, "Counters: only this node's");
}

void AddWatch(CLI::App& app, Options& options) {
  app.add_flag("--all", options.invocation.all, "What exists first");
  app.add_option("--resume", options.invocation.resume_token, "Where an earlier watch ended");
}

void AddIp(CLI::App& app, Options& options) {
  app.add_option("--ip", options.invocation.ip, "url: address the request arrives at");
}

constexpr OptionGroup kGroups[] = {
    {"general", AddGeneral},
    {"output", AddOutput},
    {"rows", AddRows},
    {"filter", AddFilter},
    {"sort", AddSort},
    {"deleted", AddDeleted},
    {"limit", AddLimit},
    {"order", AddOrder},
    {"wait", AddWait},
    {"write", AddWrite},
    {"owner", AddOwner},
    {"force", AddForce},
    {"force-undo", AddForceUndo},
    {"etag", AddEtag},
    {"count", AddCount},
    {"vanishing", AddVanishing},
    {"replace", AddReplace},
    {"files", AddFiles},
    {"prune", AddPrune},
    {"many", AddMany},
    {"errors", AddErrors},
    {"running", AddRunning},
    {"object", AddObject},
    {"who", AddWho},
    {"since", AddSince},
    {"counters", AddCounters},
    {"watch", AddWatch},
    {"ip", AddIp},
    {"input", AddInput},
    {"absent", AddAbsent},
    {"missing", AddMissing},
    {"uid", AddUid},
    {"effective", AddEffective},
};

// Verbs that take key=value; elsewhere one is a mistake that must not be passed over.
bool TakesAssignments(const Invocation& invocation) {
  return invocation.verb == "create" || invocation.verb == "set" || invocation.verb == "label" ||
         invocation.verb == "explain";
}

bool Reads(const std::string& verb) {
  constexpr std::string_view kReading[] = {"list",   "get",  "describe", "explain",
                                           "top",    "wait", "watch",    "history",
                                           "export", "diff", "apply",    "import"};
  return std::find(std::begin(kReading), std::end(kReading), verb) != std::end(kReading);
}

// Whether --expect-count is the number of objects named.
bool CountsObjects(const Invocation& invocation) {
  return !Reads(invocation.verb) && invocation.verb != "undo" && !IsBulk(invocation) &&
         !(invocation.verb == "resume" && invocation.type.starts_with("node"));
}

// Whether -f holds the names of objects, and no manifests.
bool ReadsNames(const std::string& verb) {
  return verb != "apply" && verb != "diff" && verb != "import";
}

// The names in files; without a TYPE it is theirs.
absl::Status AddNamesOfFiles(Invocation& invocation) {
  auto names = ReadNamesOf(invocation.files);
  if (!names.ok()) {
    return names.status();
  }
  for (std::string& name : *names) {
    if (invocation.type.empty()) {
      const auto parsed = contract::ParseResourceName(name);
      if (!parsed.ok()) {
        return Error(absl::StatusCode::kUnimplemented,
                     "\"{}\" is no full name: say the TYPE, as in croft {} site -f -", name,
                     invocation.verb);
      }
      invocation.type = contract::Facts(parsed->type).noun;
    }
    invocation.names.push_back(std::move(name));
  }
  return absl::OkStatus();
}

// Without a TYPE, which -f makes dispensable, what stands in its place is the first argument.
absl::Status TakeType(Options& options) {
  Invocation& invocation = options.invocation;
  invocation.type = options.type;
  if (!ReadsNames(invocation.verb) || invocation.files.empty()) {
    return absl::OkStatus();
  }
  if (IsAssignment(invocation.type)) {
    options.arguments.insert(options.arguments.begin(), invocation.type);
    invocation.type.clear();
  }
  return AddNamesOfFiles(invocation);
}

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
  return absl::OkStatus();
}

}  // namespace

void AddOptions(CLI::App& app, std::string_view groups, Options& options) {
  while (!groups.empty()) {
    const std::size_t end = std::min(groups.find(' '), groups.size());
    const std::string_view wanted = groups.substr(0, end);
    const auto* const group =
        std::find_if(std::begin(kGroups), std::end(kGroups),
                     [&](const OptionGroup& one) { return one.name == wanted; });
    Check(group != std::end(kGroups), "a verb names groups of options that exist");
    group->add(app, options);
    groups.remove_prefix(std::min(end + 1, groups.size()));
  }
}

absl::Status Complete(Options& options, const Context& context) {
  Invocation& invocation = options.invocation;
  if (auto status = TakeType(options); !status.ok()) {
    return status;
  }
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

}  // namespace croft::admin_cli
