#include "admin-cli/grammar.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <vector>

#include "admin-cli/verbs.h"
#include "proto/contract/nearest_name.h"

namespace croft::admin_cli {
namespace {

constexpr const char* kFooter =
    "Types: platform organization operator token farm node site pool store account (list: also "
    "events, changes,\noperations; get: also counters). Their fields: croft explain TYPE. A name "
    "without \"/\" is of the farm given by\n--farm or the context; sizes and durations take units "
    "(30MB, 20min). All options of a verb: croft VERB --help.\n"
    "\nExit codes: 0 done, 1 differs, 2 usage, 3 not found, 4 exists or conflicts, 5 invalid, 6 "
    "partly done, 7 limit,\n8 not permitted, 9 control unreachable, 10 wait timed out, 11 refused "
    "by a node, 12 precondition failed.\n"
    "\nEnvironment: CROFT_CONFIG (contexts file), CROFT_CONTEXT, CROFT_CONTROL, CROFT_TOKEN, "
    "NO_COLOR.\n"
    "\nExamples:\n"
    "  croft list nodes\n"
    "  croft create site shop bindings=*:80:shop.example root=content:shop pool=php "
    "--wait=serving\n"
    "  croft explain url http://shop.example/\n"
    "  croft set --help\n";

// With -f the names say the type.
bool TakesNamesFromFiles(const Verb& verb) {
  return std::string_view(verb.options).find("input") != std::string_view::npos;
}

void AddVerb(CLI::App& app, const Verb& verb, bool with_options, Options& options) {
  CLI::App* command = app.add_subcommand(verb.name, verb.summary);
  if (!with_options) {
    return;
  }
  command->footer("Examples:\n" + std::string(verb.examples));
  command->add_option("TYPE", options.type, "What kind of object")
      ->required(verb.wants_type && !TakesNamesFromFiles(verb));
  command->add_option("NAME", options.arguments, "Names, and key=value assignments");
  AddOptions(*command, verb.options, options);
  AddOptions(*command, "general", options);
  command->final_callback([&options, &verb] { options.invocation.verb = verb.name; });
}

// "frobnicate" is no verb: CLI11 alone would only say that one is missing.
bool RefuseUnknownVerb(const std::string& word) {
  std::string list;
  std::vector<std::string> verbs;
  for (const Verb& verb : AllVerbs()) {
    if (word.empty() || word == verb.name) {
      return false;
    }
    verbs.emplace_back(verb.name);
    list += (list.empty() ? "" : ", ") + verbs.back();
  }
  const std::string nearest = contract::NearestName(word, verbs);
  std::fprintf(stderr, "croft: no verb \"%s\"%s; there are: %s\n", word.c_str(),
               nearest.empty() ? "" : (", but \"" + nearest + "\"").c_str(), list.c_str());
  return true;
}

}  // namespace

void BuildGrammar(CLI::App& app, std::string_view verb, Options& options) {
  app.description(
      "Croft: web hosting for many small sites, run from one place.\n"
      "croft VERB TYPE [NAME...] [key=value...]");
  app.name("croft");
  app.set_version_flag("--version", "croft 0.1.0");
  app.footer(kFooter);
  AddOptions(app, "output general", options);
  for (const Verb& one : AllVerbs()) {
    AddVerb(app, one, verb.empty() || verb == one.name, options);
  }
  app.require_subcommand(1);
}

std::string FirstWord(int argc, const char* const* argv) {
  constexpr std::string_view kWithValue[] = {"--context", "--farm", "--timeout", "-o", "--output"};
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (!word.starts_with("-")) {
      return word;
    }
    i += std::find(std::begin(kWithValue), std::end(kWithValue), word) != std::end(kWithValue);
  }
  return "";
}

std::optional<int> ParseCommandLine(int argc, char** argv, Options& options) {
  const std::string verb = FirstWord(argc, argv);
  if (RefuseUnknownVerb(verb)) {
    return static_cast<int>(ExitCode::kUsage);
  }
  CLI::App app;
  // Without a verb there is only the help of croft itself: no verb's options are needed.
  BuildGrammar(app, verb.empty() ? "-" : verb, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? 0 : static_cast<int>(ExitCode::kUsage);
  }
  return std::nullopt;
}

}  // namespace croft::admin_cli
