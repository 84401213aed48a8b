// croft man DIR: manual pages from the grammar itself, so that they say what --help says.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "admin-cli/grammar.h"
#include "admin-cli/invocation.h"
#include "admin-cli/verbs.h"
#include "proto/base/error.h"

namespace croft::admin_cli {
namespace {

// Text that roff takes for text.
std::string Roff(std::string_view text) {
  std::string out;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) {
      out += "\\&";
    }
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
    line_begins = c == '\n';
  }
  return out;
}

std::string UpperCase(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

// "-o,--output TEXT" as the tag of a paragraph.
std::string Tag(const CLI::Option& option) {
  std::string names = option.get_name(false, true);
  std::string tag = "\\fB";
  for (const char c : names) {
    tag += c == ',' ? std::string("\\fR, \\fB") : Roff(std::string(1, c));
  }
  tag += "\\fR";
  if (option.get_items_expected_max() > 0) {
    tag += " \\fI" + Roff(option.get_type_name()) + "\\fR";
  }
  return tag;
}

std::string OptionsOf(const CLI::App& app) {
  std::string text = ".SH OPTIONS\n";
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_lnames().empty() || !option->get_snames().empty()) {
      text += ".TP\n" + Tag(*option) + "\n" + Roff(option->get_description()) + "\n";
    }
  }
  return text;
}

// Lines as they are; one that begins with two spaces is a command.
std::string ExamplesOf(const std::string& examples) {
  return ".SH EXAMPLES\n.nf\n" + Roff(examples) + ".fi\n";
}

std::string Head(const std::string& page, const std::string& summary) {
  return ".\\\" Made from the grammar of croft: croft man DIR\n.TH " + UpperCase(Roff(page)) +
         " 1 \"\" \"Croft\" \"Croft\"\n.SH NAME\n" + Roff(page) + " \\- " + Roff(summary) + "\n";
}

std::string PageOf(const Verb& verb, const CLI::App& app) {
  const std::string type = verb.wants_type ? " \\fITYPE\\fR" : "";
  return Head("croft-" + std::string(verb.name), verb.summary) + ".SH SYNOPSIS\n\\fBcroft " +
         verb.name + "\\fR" + type +
         " [\\fINAME\\fR...] [\\fIkey\\fR=\\fIvalue\\fR...] [options]\n" + OptionsOf(app) +
         ExamplesOf(verb.examples) + ".SH SEE ALSO\n.BR croft (1)\n";
}

std::string PageOfCroft(const CLI::App& app) {
  std::string text = Head("croft", "web hosting for many small sites, run from one place");
  text +=
      ".SH SYNOPSIS\n\\fBcroft\\fR \\fIVERB\\fR \\fITYPE\\fR [\\fINAME\\fR...] "
      "[\\fIkey\\fR=\\fIvalue\\fR...] [options]\n.SH VERBS\n";
  for (const Verb& verb : AllVerbs()) {
    text += ".TP\n.BR " + Roff(std::string("croft-") + verb.name) + " (1)\n" + Roff(verb.summary) +
            "\n";
  }
  text += OptionsOf(app) + ".SH NOTES\n";
  std::istringstream footer(app.get_footer());
  std::string line;
  while (std::getline(footer, line)) {
    text += line.empty()             ? ".PP\n"
            : line.starts_with("  ") ? Roff(line) + "\n.br\n"
                                     : Roff(line) + "\n";
  }
  return text;
}

absl::Status Write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  return file ? absl::OkStatus() : ErrnoError("write {}", path.string());
}

}  // namespace

ExitCode WriteManPages(const Invocation& invocation) {
  const std::filesystem::path folder = invocation.type;
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  Options options;
  CLI::App app;
  BuildGrammar(app, "", options);
  absl::Status status = Write(folder / "croft.1", PageOfCroft(app));
  for (const Verb& verb : AllVerbs()) {
    if (!status.ok()) {
      break;
    }
    status = Write(folder / ("croft-" + std::string(verb.name) + ".1"),
                   PageOf(verb, *app.get_subcommand(verb.name)));
  }
  return status.ok() ? ExitCode::kDone : Fail(status);
}

}  // namespace croft::admin_cli
