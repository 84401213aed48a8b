#include "admin-cli/complete_words.h"

#include <fcntl.h>
#include <sys/time.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <iterator>
#include <string_view>

#include "admin-cli/api_client.h"
#include "admin-cli/contexts.h"
#include "admin-cli/field_list.h"
#include "admin-cli/grammar.h"
#include "admin-cli/list_pages.h"
#include "admin-cli/nouns.h"
#include "admin-cli/request.h"
#include "admin-cli/verbs.h"

namespace croft::admin_cli {
namespace {

constexpr int kTimeLimitMs = 300;
constexpr std::int64_t kNamesMax = 100;

// What stands on the line before the unfinished word.
struct Line {
  const Verb* verb = nullptr;
  std::vector<std::string> words;  // behind the verb, without options and their values
  std::string option;              // whose value the unfinished word is: "--farm"
  std::string farm, context;
};

void Offer(std::string_view candidate, std::string_view meaning = "") {
  std::printf("%.*s%s%.*s\n", static_cast<int>(candidate.size()), candidate.data(),
              meaning.empty() ? "" : "\t", static_cast<int>(meaning.size()), meaning.data());
}

const Verb* FindVerb(std::string_view word) {
  const auto& verbs = AllVerbs();
  const auto at =
      std::find_if(verbs.begin(), verbs.end(), [&](const Verb& verb) { return word == verb.name; });
  return at == verbs.end() ? nullptr : &*at;
}

// Those that take a value, of croft itself or the verb.
bool TakesValue(CLI::App& app, const std::string& option) {
  const auto in = [&](const CLI::App* scope) {
    const CLI::Option* found = scope->get_option_no_throw(option);
    return found != nullptr && found->get_items_expected_max() > 0;
  };
  const auto subcommands = app.get_subcommands({});
  return in(&app) || std::any_of(subcommands.begin(), subcommands.end(), in);
}

Line ReadLineSoFar(const std::vector<std::string>& words, CLI::App& app) {
  Line line;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string& word = words[i];
    if (!word.starts_with('-') || word == "-") {
      if (line.verb == nullptr) {
        line.verb = FindVerb(word);
      } else {
        line.words.push_back(word);
      }
      continue;
    }
    const auto equals = word.find('=');
    const std::string option = word.substr(0, equals);
    std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (equals == std::string::npos && TakesValue(app, option)) {
      if (i + 2 == words.size()) {
        line.option = option;
        return line;
      }
      value = words[++i];
    }
    if (option == "--farm") {
      line.farm = value;
    } else if (option == "--context") {
      line.context = value;
    }
  }
  return line;
}

void OfferVerbs() {
  for (const Verb& verb : AllVerbs()) {
    Offer(verb.name, verb.summary);
  }
}

void OfferOptions(CLI::App& app, const Line& line) {
  const CLI::App* scope = line.verb == nullptr ? &app : app.get_subcommand(line.verb->name);
  for (const CLI::Option* option : scope->get_options()) {
    for (const std::string& name : option->get_lnames()) {
      Offer("--" + name, option->get_description());
    }
  }
}

// Names of a type, from control.
void OfferNames(const Line& line, const Noun& noun, const std::string& prefix) {
  const auto context = LoadContext(line.context);
  if (!context.ok() || prefix.find_first_of("\"\\*/") != std::string::npos ||
      noun.type == contract::ResourceType::kPlatform) {
    return;
  }
  ListQuery query;
  query.farm = line.farm.empty() ? context->farm : line.farm;
  query.filter = prefix.empty() ? "" : "name = \"" + prefix + "*\"";
  query.fields = {"name"};
  query.limit = kNamesMax;
  query.show_deleted = line.verb != nullptr && std::string_view(line.verb->name) == "undelete";
  ApiClient client(*context);
  // What control can't say is not offered.
  (void)ListPages(client, noun, query, [](const std::vector<MessagePtr>& page) {
    for (const MessagePtr& resource : page) {
      Offer(ShortName(TextOf(*resource, "name")));
    }
  });
}

void OfferContexts() {
  std::freopen("/dev/null", "w", stderr);
  Invocation list;
  list.verb = "list";
  list.format = Format::kName;
  RunOnContexts(list);
}

void OfferValues(const Line& line, const std::string& option, const std::string& before,
                 const std::string& prefix) {
  constexpr std::string_view kFormats[] = {"table", "wide", "json", "jsonl", "yaml", "csv", "name"};
  constexpr std::string_view kLevels[] = {"accepted", "applied", "serving"};
  if (option == "-o" || option == "--output") {
    for (const std::string_view format : kFormats) {
      Offer(before + std::string(format));
    }
  } else if (option == "--wait") {
    for (const std::string_view level : kLevels) {
      Offer(before + std::string(level));
    }
  } else if (before.empty() && option == "--farm") {
    OfferNames(line, **FindNoun("farm"), prefix);
  } else if (before.empty() && option == "--context") {
    OfferContexts();
  }
}

void OfferTypes(const Line& line) {
  const std::string_view verb = line.verb->name;
  if (verb == "completion") {
    for (const char* shell : {"bash", "zsh", "fish"}) {
      Offer(shell);
    }
    return;
  }
  if (verb == "use" || verb == "undo" || verb == "cancel") {
    Offer(verb == "use" ? "context" : verb == "undo" ? "change" : "operation");
    return;
  }
  const bool plural = verb == "list" || verb == "export" || verb == "watch";
  for (const Noun& noun : AllNouns()) {
    Offer(std::string(noun.noun) +
          (plural && noun.type != contract::ResourceType::kPlatform ? "s" : ""));
  }
  const std::string s = plural ? "s" : "";
  if (verb == "list" || verb == "watch") {
    Offer("events");
  }
  if (verb == "list" || verb == "get") {
    for (const char* other : {"change", "operation", "context"}) {
      Offer(other + s);
    }
  }
  if (verb == "get") {
    Offer("counters");
  } else if (verb == "explain") {
    Offer("url");
  } else if (verb == "create" || verb == "set" || verb == "delete") {
    Offer("context");
  }
}

void OfferFields(const Noun& noun, std::string_view before, std::string_view after) {
  const auto list = ListFields(*NewResource(noun)->GetDescriptor(), "");
  if (!list.ok()) {
    return;
  }
  for (const FieldLine& field : list->settable) {
    if (field.path.find("[N]") == std::string::npos && field.path != "name" &&
        field.path != "etag") {
      const bool map = field.path.ends_with(".KEY");
      Offer(std::string(before) + field.path.substr(0, field.path.size() - (map ? 3 : 0)) +
            std::string(map ? "" : after));
    }
  }
}

bool OfOne(const Line& line) {
  const std::string_view verb = line.verb->name;
  return verb == "set" || verb == "create" || verb == "explain" || verb == "history";
}

void OfferArguments(const Line& line, const std::string& prefix) {
  const std::string_view verb = line.verb->name;
  if (line.words[0] == "context" || line.words[0] == "contexts") {
    OfferContexts();
    return;
  }
  const std::size_t at = line.words[0] == "counters" ? 1 : 0;
  if (at == 1 && line.words.size() == 1) {
    for (const char* type : {"node", "site", "pool", "worker", "store"}) {
      Offer(type);
    }
    return;
  }
  const auto noun = FindNoun(line.words[at]);
  if (!noun.ok()) {
    return;
  }
  const bool platform = (*noun)->type == contract::ResourceType::kPlatform;
  const bool named = line.words.size() > at + 1 || platform;
  if ((verb == "set" || verb == "create") && named) {
    OfferFields(**noun, "", "=");
  }
  if (verb != "create" && !(named && OfOne(line))) {
    OfferNames(line, **noun, prefix);
  }
}

void Complete(CLI::App& app, const std::vector<std::string>& words) {
  const std::string& last = words.back();
  const Line line = ReadLineSoFar(words, app);
  if (!line.option.empty()) {
    OfferValues(line, line.option, "", last);
  } else if (const auto equals = last.find('='); last.starts_with("--") && equals != last.npos) {
    OfferValues(line, last.substr(0, equals), last.substr(0, equals + 1), last.substr(equals + 1));
  } else if (last.starts_with('-')) {
    OfferOptions(app, line);
  } else if (line.verb == nullptr) {
    OfferVerbs();
  } else if (!line.words.empty()) {
    OfferArguments(line, last);
  } else if (const auto dot = last.find('.');
             std::string_view(line.verb->name) == "explain" && dot != std::string::npos) {
    if (const auto noun = FindNoun(last.substr(0, dot)); noun.ok()) {
      OfferFields(**noun, last.substr(0, dot + 1), "");
    }
  } else {
    OfferTypes(line);
  }
}

// Whatever is not there in time is not offered: the shell waits.
void EndInTime() {
  std::signal(SIGALRM, [](int) { ::_exit(0); });
  itimerval limit = {};
  limit.it_value.tv_usec = kTimeLimitMs * 1000;
  ::setitimer(ITIMER_REAL, &limit, nullptr);
}

}  // namespace

int CompleteWords(std::vector<std::string> words) {
  EndInTime();
  if (!words.empty() && words.front() == "--") {
    words.erase(words.begin());
  }
  if (words.empty()) {
    words.emplace_back();
  }
  Options options;
  CLI::App app;
  std::vector<const char*> arguments = {"croft"};
  std::transform(words.begin(), words.end() - 1, std::back_inserter(arguments),
                 [](const std::string& word) { return word.c_str(); });
  const std::string verb = FirstWord(static_cast<int>(arguments.size()), arguments.data());
  BuildGrammar(app, FindVerb(verb) == nullptr ? "-" : verb, options);
  Complete(app, words);
  return 0;
}

}  // namespace croft::admin_cli
