// croft explain TYPE[.FIELD]: the fields of a type as key=value takes them, with the API's
// comments.
#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <vector>

#include "admin-cli/field_list.h"
#include "admin-cli/field_meaning.h"
#include "admin-cli/invocation.h"
#include "admin-cli/nouns.h"
#include "proto/base/error.h"
#include "proto/comments/api_comments.h"
#include "proto/contract/field_rules.h"

namespace croft::admin_cli {
namespace {

constexpr std::size_t kWidth = 100;

// Breaks at spaces, with an indentation of six.
void PrintParagraph(const std::string& text) {
  constexpr const char* kIndent = "      ";
  std::string line = kIndent;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    if (line.size() + end - begin >= kWidth) {
      std::printf("%s\n", line.c_str());
      line = kIndent;
    }
    line += (line == kIndent ? "" : " ") + text.substr(begin, end - begin);
    begin = end + 1;
  }
  if (line != kIndent) {
    std::printf("%s\n", line.c_str());
  }
}

void PrintLine(const FieldLine& line, const comments::ApiComments& comments) {
  std::printf("  %s  (%s%s%s)\n", line.path.c_str(), line.accepts.c_str(),
              line.notes.empty() ? "" : "; ", line.notes.c_str());
  PrintParagraph(comments.Of(*line.field));
}

// One field, with everything known of it.
void PrintCard(const Noun& noun, const FieldLine& line, const comments::ApiComments& comments) {
  const auto say = [](const char* title, const std::string& text) {
    if (!text.empty()) {
      std::printf("  %s\n", title);
      PrintParagraph(text);
    }
  };
  const std::string default_text = DefaultOf(*line.field, comments);
  std::printf("%s.%s\n", std::string(noun.noun).c_str(), line.path.c_str());
  PrintParagraph(comments.Of(*line.field));
  say("takes", line.accepts + (line.notes.empty() ? "" : "; " + line.notes));
  say("unit", UnitOf(*line.field));
  say("default", default_text);
  say("set by", SetBy(noun, *line.field));
  say("levels", LevelsOf(line));
  if (!contract::RuleOf(*line.field).output_only()) {
    std::printf("  examples\n");
    for (const std::string& example : ExamplesOf(noun, line, default_text)) {
      std::printf("      %s\n", example.c_str());
    }
  }
}

// The fields below a path.
void PrintBelow(const Noun& noun, const FieldList& list, const comments::ApiComments& comments) {
  if (list.settable.size() + list.output_only.size() == 1) {
    PrintCard(noun, list.settable.empty() ? list.output_only[0] : list.settable[0], comments);
    return;
  }
  for (const auto* lines : {&list.settable, &list.output_only}) {
    for (const FieldLine& line : *lines) {
      PrintLine(line, comments);
    }
  }
  if (!list.settable.empty() && !LevelsOf(list.settable[0]).empty()) {
    std::printf("\nlevels\n");
    PrintParagraph(LevelsOf(list.settable[0]));
  }
}

void PrintText(const Noun& noun, const google::protobuf::Descriptor& type, const FieldList& list,
               const comments::ApiComments& comments) {
  const contract::ResourceTypeFacts& facts = contract::Facts(noun.type);
  const bool platform = noun.type == contract::ResourceType::kPlatform;
  std::printf("%s\n", std::string(noun.noun).c_str());
  PrintParagraph(comments.Of(type.full_name()));
  std::printf(
      "  name  (%s)\n",
      platform
          ? "platform"
          : fmt::format("{}{}/NAME", facts.in_farm ? "farms/FARM/" : "", facts.collection).c_str());
  if (noun.noun == "site") {
    std::printf("  root=STORE:PATH, pool=POOL\n");
    PrintParagraph("Short for root and pool of the application \"/\", which is made if need be.");
  }
  for (const FieldLine& line : list.settable) {
    if (line.path != "name" && line.path != "etag") {
      PrintLine(line, comments);
    }
  }
  if (!list.output_only.empty()) {
    std::printf("\nSet by Croft:\n");
    for (const FieldLine& line : list.output_only) {
      std::printf("  %s\n", line.path.c_str());
    }
  }
}

void PrintRows(const FieldList& list, const comments::ApiComments& comments, Format format) {
  std::vector<std::vector<std::string>> rows;
  for (const FieldLine& line : list.settable) {
    rows.push_back({line.path, line.accepts, line.notes, comments.Of(*line.field)});
  }
  for (const FieldLine& line : list.output_only) {
    rows.push_back({line.path, line.accepts, "set by Croft", comments.Of(*line.field)});
  }
  TablePrinter({"FIELD", "ACCEPTS", "NOTES", "MEANING"}, format).Print(rows);
}

}  // namespace

ExitCode ExplainType(const Invocation& invocation) {
  if (!invocation.names.empty() || !invocation.assignments.empty()) {
    return Fail(Error(absl::StatusCode::kUnimplemented,
                      "explain wants \"url URL\", or a type and perhaps a field of it in one word "
                      "(site.bindings): see croft explain --help"));
  }
  const std::size_t dot = std::min(invocation.type.find('.'), invocation.type.size());
  const auto noun = FindNoun(invocation.type.substr(0, dot));
  if (!noun.ok()) {
    return Fail(noun.status());
  }
  const MessagePtr resource = NewResource(**noun);
  const google::protobuf::Descriptor& type = *resource->GetDescriptor();
  const std::string path = dot < invocation.type.size() ? invocation.type.substr(dot + 1) : "";
  const auto list = ListFields(type, path);
  if (!list.ok()) {
    return Fail(list.status());
  }
  const comments::ApiComments comments;
  if (invocation.format == Format::kName) {
    for (const FieldLine& line : list->settable) {
      std::printf("%s\n", line.path.c_str());
    }
  } else if (invocation.format == Format::kCsv || invocation.format == Format::kWide) {
    PrintRows(*list, comments, invocation.format);
  } else if (ItemPrinter::Prints(invocation.format)) {
    return Fail(Error(absl::StatusCode::kUnimplemented,
                      "explain of a type prints table, wide, csv or name"));
  } else if (path.empty()) {
    PrintText(**noun, type, *list, comments);
  } else {
    PrintBelow(**noun, *list, comments);
  }
  return ExitCode::kDone;
}

}  // namespace croft::admin_cli
