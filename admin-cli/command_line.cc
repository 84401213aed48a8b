#include "admin-cli/command_line.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include "admin-cli/complete_words.h"
#include "admin-cli/contexts.h"
#include "admin-cli/grammar.h"
#include "admin-cli/invocation.h"
#include "admin-cli/options.h"
#include "admin-cli/verbs.h"

namespace croft::admin_cli {
namespace {

// Whether a type was named, in its singular or plural.
bool Is(const Invocation& invocation, std::string_view singular) {
  return invocation.type == singular || invocation.type == std::string(singular) + "s";
}

const Verb& VerbOf(const Invocation& invocation) {
  const auto& verbs = AllVerbs();
  return *std::find_if(verbs.begin(), verbs.end(),
                       [&](const Verb& verb) { return invocation.verb == verb.name; });
}

// Commands that ask no control; null if it is none.
LocalCommand LocalCommandOf(const Invocation& invocation) {
  if (IsOfContexts(invocation)) {
    return RunOnContexts;
  }
  return invocation.verb == "explain" && invocation.type != "url" ? ExplainType
                                                                  : VerbOf(invocation).local;
}

// What a verb does with types that are no resources.
Command CommandOfOtherTypes(const Invocation& invocation) {
  const bool list = invocation.verb == "list";
  const bool get = invocation.verb == "get";
  if (get && invocation.type == "counters") {
    return GetCounters;
  }
  if (list && Is(invocation, "event")) {
    return ListEvents;
  }
  if ((list || get) && Is(invocation, "change")) {
    return list ? ListChanges : GetChange;
  }
  if ((list || get) && Is(invocation, "operation")) {
    return list ? ListOperations : GetOperations;
  }
  return nullptr;
}

Command CommandOf(const Invocation& invocation) {
  if (const Command command = CommandOfOtherTypes(invocation); command != nullptr) {
    return command;
  }
  if (IsBulk(invocation) && invocation.verb == "set") {
    return SetMany;
  }
  if (IsBulk(invocation) && invocation.verb == "delete") {
    return DeleteMany;
  }
  if (invocation.effective) {
    return DescribeEffective;
  }
  return VerbOf(invocation).command;
}

}  // namespace

int RunCommandLine(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "complete") {
    return CompleteWords({argv + 2, argv + argc});
  }
  Options options;
  if (const auto code = ParseCommandLine(argc, argv, options); code.has_value()) {
    return *code;
  }
  options.invocation.type = options.type;
  if (const LocalCommand command = LocalCommandOf(options.invocation); command != nullptr) {
    const absl::Status status = Complete(options, Context{});
    return static_cast<int>(status.ok() ? command(options.invocation) : Fail(status));
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
