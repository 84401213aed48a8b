// What the operator asked for, parsed; and the connection it is carried out on.
#pragma once

#include <string>
#include <vector>

#include "admin-cli/api_client.h"
#include "admin-cli/exit_code.h"
#include "admin-cli/output.h"
#include "croft/v1/change.pb.h"

namespace croft::admin_cli {

struct Invocation {
  std::string verb;
  std::string type;                      // as typed: "site"
  std::vector<std::string> names;        // positionals that are no assignment
  std::vector<std::string> assignments;  // key=value, key+=value, key-=value, key-
  Format format = Format::kTable;
  std::string farm;  // id; the context's default if not given
  v1::WaitLevel wait = v1::ACCEPTED;
  std::int64_t timeout_ms = 30'000;
  bool validate_only = false;
  bool replace = false;     // set: fields that are not named are unset
  std::int64_t expect = 0;  // how many objects the operator says the command touches
  std::string if_etag;
  std::string request_id;
  std::string reason;
  std::string node;      // get counters
  std::string ip;        // explain url
  std::string order_by;  // top
  int limit = 0;         // top, events, changes

  // lists
  std::string columns;  // field paths, with commas; empty: the usual ones
  bool no_headers = false;
  std::string sort;           // order_by of the API
  bool show_deleted = false;  // also get, describe
  // create, delete, undelete
  bool if_absent = false;
  bool ignore_missing = false;
  std::int64_t uid = 0;
  bool effective = false;  // describe

  // apply, diff
  std::vector<std::string> files;
  std::string prune_selector;
  std::int64_t expect_pruned = -1;  // -1: not said
  std::string field_manager;
  bool force = false;  // also undo change
  // set, delete, export: many at once
  bool all = false;
  std::string filter, selector;
  bool no_wait = false;  // for an operation's end
  // events, changes, counters, watch, import
  std::string object, who, since, step, resume_token, errors_file;
  bool running = false;  // list operations
};

// A command's outcome; it has printed what it had to say.
using Command = ExitCode (*)(ApiClient& client, const Invocation& invocation);
// One that asks no control.
using LocalCommand = ExitCode (*)(const Invocation& invocation);

// Prints the error and gives its exit code.
ExitCode Fail(const absl::Status& status);

View ViewOf(const Invocation& invocation);
// A whole table of text in the invocation's view; one without rows is said to be so.
ExitCode PrintTable(const std::vector<std::string>& titles,
                    const std::vector<std::vector<std::string>>& rows, const Invocation& invocation,
                    const std::string& nothing);

// commands/list.cc, commands/write.cc: the standard verbs, the same for every noun.
ExitCode ListResources(ApiClient& client, const Invocation& invocation);
ExitCode GetResources(ApiClient& client, const Invocation& invocation);
ExitCode CreateResource(ApiClient& client, const Invocation& invocation);
ExitCode SetResource(ApiClient& client, const Invocation& invocation);
ExitCode DeleteResources(ApiClient& client, const Invocation& invocation);
ExitCode UndeleteResources(ApiClient& client, const Invocation& invocation);
// set of labels.KEY under its own verb.
ExitCode LabelResources(ApiClient& client, const Invocation& invocation);
// commands/state.cc: set of one state field under its own verb.
ExitCode StartResources(ApiClient& client, const Invocation& invocation);
ExitCode StopResources(ApiClient& client, const Invocation& invocation);
ExitCode SuspendAccounts(ApiClient& client, const Invocation& invocation);
// An account; or a node that waits for --expect-count to be accepted.
ExitCode Resume(ApiClient& client, const Invocation& invocation);
ExitCode DrainNodes(ApiClient& client, const Invocation& invocation);
ExitCode UndrainNodes(ApiClient& client, const Invocation& invocation);
//
// commands/contexts.cc: the type "context", which is an entry of the contexts file.
bool IsOfContexts(const Invocation& invocation);
ExitCode RunOnContexts(const Invocation& invocation);
// commands/completion.cc: the shell's part of completion.
ExitCode PrintCompletion(const Invocation& invocation);
// commands/man.cc: manual pages of every verb, into a directory.
ExitCode WriteManPages(const Invocation& invocation);
// commands/effective.cc: the settings in force for an object, and where each comes from.
ExitCode DescribeEffective(ApiClient& client, const Invocation& invocation);
// commands/explain_type.cc: the fields of a type, for key=value; needs no control.
ExitCode ExplainType(const Invocation& invocation);
// commands/explain_url.cc
ExitCode ExplainUrl(ApiClient& client, const Invocation& invocation);
// commands/reports.cc
ExitCode Top(ApiClient& client, const Invocation& invocation);
ExitCode GetCounters(ApiClient& client, const Invocation& invocation);
ExitCode ListEvents(ApiClient& client, const Invocation& invocation);
ExitCode ListChanges(ApiClient& client, const Invocation& invocation);
// commands/enroll.cc
ExitCode EnrollNode(ApiClient& client, const Invocation& invocation);
// commands/apply.cc
ExitCode ApplyFiles(ApiClient& client, const Invocation& invocation);
ExitCode DiffFiles(ApiClient& client, const Invocation& invocation);
// commands/export.cc
ExitCode ExportResources(ApiClient& client, const Invocation& invocation);
// commands/history.cc
ExitCode ShowHistory(ApiClient& client, const Invocation& invocation);
ExitCode UndoChange(ApiClient& client, const Invocation& invocation);
ExitCode GetChange(ApiClient& client, const Invocation& invocation);
// commands/watch.cc
ExitCode Watch(ApiClient& client, const Invocation& invocation);
// commands/import.cc
ExitCode ImportFile(ApiClient& client, const Invocation& invocation);
// commands/bulk.cc: set and delete of what a filter selects.
bool IsBulk(const Invocation& invocation);
ExitCode SetMany(ApiClient& client, const Invocation& invocation);
ExitCode DeleteMany(ApiClient& client, const Invocation& invocation);
// commands/operations.cc
ExitCode ListOperations(ApiClient& client, const Invocation& invocation);
ExitCode GetOperations(ApiClient& client, const Invocation& invocation);
ExitCode CancelOperation(ApiClient& client, const Invocation& invocation);
ExitCode WaitForOperation(ApiClient& client, const Invocation& invocation);
// commands/counter_history.cc
ExitCode GetCounterHistory(ApiClient& client, const Invocation& invocation);
// commands/wait.cc
ExitCode WaitForRevision(ApiClient& client, const Invocation& invocation);

// Waits as the invocation asks for `revision`, after a write to the objects with these full names;
// says on stderr which nodes were not awaited or are behind.
ExitCode WaitAfterWrite(ApiClient& client, const Invocation& invocation, std::int64_t revision,
                        const std::vector<std::string>& full_names);

}  // namespace croft::admin_cli
