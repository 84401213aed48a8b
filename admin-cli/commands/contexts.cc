// Contexts as a type of the command line: list, get, use, create, set and delete. They are entries
// of the contexts file; control knows nothing of them. A token is never shown.
#include "admin-cli/contexts.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "admin-cli/invocation.h"
#include "proto/base/error.h"
#include "proto/base/unique_fd.h"
#include "proto/contract/document.h"

namespace croft::admin_cli {
namespace {

using contract::DocumentNode;

constexpr auto kUsage = absl::StatusCode::kUnimplemented;

struct Row {
  std::string current, name, control, farm, ca, token;
};

std::string Text(const YAML::Node& entry, const char* key) {
  return entry[key] ? entry[key].as<std::string>() : "";
}

// The contexts file as it is; an empty one where there is none yet.
absl::StatusOr<YAML::Node> Load(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  YAML::Node root(YAML::NodeType::Map);
  if (file.is_open()) {
    std::stringstream text;
    text << file.rdbuf();
    try {
      root = YAML::Load(text.str());
    } catch (const YAML::Exception& bad) {
      return Error(absl::StatusCode::kInvalidArgument, "{}: {}", path, bad.what());
    }
  }
  if (root.IsNull()) {
    root = YAML::Node(YAML::NodeType::Map);
  }
  if (!root.IsMap() || (root["contexts"] && !root["contexts"].IsMap())) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "{} is no contexts file: it has \"current: NAME\" and \"contexts:\"; move it away "
                 "to begin anew",
                 path);
  }
  return root;
}

// Beside the file, then renamed over it: no reader sees half of it, and nobody else reads it.
absl::Status Store(const std::string& path, const YAML::Node& root) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code failed;
  if (!folder.empty() && !std::filesystem::exists(folder, failed)) {
    std::filesystem::create_directories(folder, failed);
    ::chmod(folder.c_str(), 0700);
  }
  YAML::Emitter out;
  out << root;
  const std::string text = std::string(out.c_str()) + "\n";
  const std::string beside = path + ".new";
  ::unlink(beside.c_str());
  const UniqueFd fd(::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (fd.get() < 0 ||
      ::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
      ::fsync(fd.get()) != 0 || ::rename(beside.c_str(), path.c_str()) != 0) {
    const int error = errno;
    ::unlink(beside.c_str());
    errno = error;
    return ErrnoError("write {}", path);
  }
  return absl::OkStatus();
}

Row RowOf(const std::string& name, const YAML::Node& entry, const std::string& current) {
  Row row;
  row.current = name == current ? "*" : "";
  row.name = name;
  row.control = Text(entry, "control");
  row.farm = entry["farm"] ? Text(entry, "farm") : "main";
  row.ca = entry["ca"] ? "in the file" : Text(entry, "ca_file");
  row.token = entry["token"] ? "in the file" : Text(entry, "token_file");
  return row;
}

DocumentNode DocumentOf(const Row& row) {
  DocumentNode node;
  node.kind = DocumentNode::Kind::kMap;
  const auto add = [&](const char* key, const std::string& value, bool is_string) {
    DocumentNode text;
    text.kind = DocumentNode::Kind::kScalar;
    text.text = value;
    text.is_string = is_string;
    node.members.push_back({key, 0, std::move(text)});
  };
  add("name", row.name, true);
  add("current", row.current.empty() ? "false" : "true", false);
  add("control", row.control, true);
  add("farm", row.farm, true);
  add("ca", row.ca, true);
  add("token", row.token, true);
  return node;
}

ExitCode Print(const std::vector<Row>& rows, const Invocation& invocation) {
  if (invocation.format == Format::kName) {
    for (const Row& row : rows) {
      Put(row.name + "\n");
    }
    return ExitCode::kDone;
  }
  if (ItemPrinter::Prints(invocation.format)) {
    DocumentNode list;
    list.kind = DocumentNode::Kind::kList;
    for (const Row& row : rows) {
      list.items.push_back(DocumentOf(row));
    }
    Put(invocation.format == Format::kYaml ? RenderYaml(list) : RenderJson(list));
    return ExitCode::kDone;
  }
  std::vector<std::vector<std::string>> cells;
  for (const Row& row : rows) {
    cells.push_back({row.current, row.name, row.control, row.farm, row.ca, row.token});
  }
  return PrintTable({"CURRENT", "NAME", "CONTROL", "FARM", "CA", "TOKEN"}, cells, invocation,
                    "no context");
}

absl::StatusOr<std::vector<Row>> RowsOf(const YAML::Node& root) {
  std::vector<Row> rows;
  for (const auto& item : root["contexts"]) {
    if (!item.second.IsMap()) {
      return Error(absl::StatusCode::kInvalidArgument, "context \"{}\" has no keys",
                   item.first.as<std::string>());
    }
    rows.push_back(RowOf(item.first.as<std::string>(), item.second, Text(root, "current")));
  }
  return rows;
}

ExitCode List(const Invocation& invocation) {
  const auto root = Load(ContextsPath());
  if (!root.ok()) {
    return Fail(root.status());
  }
  auto rows = RowsOf(*root);
  if (!rows.ok()) {
    return Fail(rows.status());
  }
  if (invocation.names.empty() && invocation.verb == "list") {
    return Print(*rows, invocation);
  }
  std::vector<Row> chosen;
  for (const Row& row : *rows) {
    const bool named = std::find(invocation.names.begin(), invocation.names.end(), row.name) !=
                       invocation.names.end();
    if (named || (invocation.names.empty() && !row.current.empty())) {
      chosen.push_back(row);
    }
  }
  if (chosen.size() < std::max<std::size_t>(invocation.names.size(), 1)) {
    return Fail(Error(absl::StatusCode::kNotFound,
                      "{} has no such context; croft list contexts shows what it has",
                      ContextsPath()));
  }
  return Print(chosen, invocation);
}

absl::Status Assign(const std::vector<std::string>& assignments, YAML::Node entry) {
  for (const std::string& assignment : assignments) {
    const auto equals = assignment.find('=');
    std::string key = equals == std::string::npos ? assignment.substr(0, assignment.size() - 1)
                                                  : assignment.substr(0, equals);
    std::replace(key.begin(), key.end(), '-', '_');
    if (auto status = CheckContextKey(key); !status.ok()) {
      return status;
    }
    if (equals == std::string::npos) {
      entry.remove(key);
      continue;
    }
    std::string value = assignment.substr(equals + 1);
    if (key.ends_with("_file")) {
      value = std::filesystem::absolute(value).lexically_normal().string();
      // One of the two says it.
      entry.remove(key.substr(0, key.size() - 5));
    } else if (key == "ca" || key == "token") {
      entry.remove(key + "_file");
    }
    entry[key] = value;
  }
  return absl::OkStatus();
}

// create and set: what the context has afterwards.
absl::Status Set(const Invocation& invocation, YAML::Node root) {
  const std::string& name = invocation.names[0];
  if (name.empty() || name.find_first_of("/\\ \t\n") != std::string::npos) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "\"{}\" is no name of a context: it has no space and no slash", name);
  }
  const bool there = root["contexts"] && root["contexts"][name];
  if (there && invocation.verb == "create" && !invocation.if_absent) {
    return Error(absl::StatusCode::kAlreadyExists,
                 "context \"{}\" is there already; croft set context {} changes it", name, name);
  }
  if (!there) {
    root["contexts"][name] = YAML::Node(YAML::NodeType::Map);
  }
  if (auto status = Assign(invocation.assignments, root["contexts"][name]); !status.ok()) {
    return status;
  }
  if (Text(root, "current").empty()) {
    root["current"] = name;
  }
  return absl::OkStatus();
}

absl::Status Change(const Invocation& invocation, YAML::Node root) {
  if (invocation.verb == "create" || invocation.verb == "set") {
    return Set(invocation, root);
  }
  const std::string& name = invocation.names[0];
  if (!root["contexts"] || !root["contexts"][name]) {
    return invocation.verb == "delete" && invocation.ignore_missing
               ? absl::OkStatus()
               : Error(absl::StatusCode::kNotFound,
                       "{} has no context \"{}\"; croft list contexts shows what it has",
                       ContextsPath(), name);
  }
  if (invocation.verb == "use") {
    root["current"] = name;
    return absl::OkStatus();
  }
  root["contexts"].remove(name);
  if (Text(root, "current") == name) {
    root.remove("current");
  }
  return absl::OkStatus();
}

ExitCode Run(const Invocation& invocation) {
  if (invocation.verb == "list" || invocation.verb == "get") {
    return List(invocation);
  }
  if (invocation.names.size() != 1) {
    return Fail(Error(kUsage, "{} context wants one name: see croft {} --help", invocation.verb,
                      invocation.verb));
  }
  const std::string path = ContextsPath();
  const auto root = Load(path);
  absl::Status status = root.status();
  if (status.ok()) {
    status = Change(invocation, *root);
  }
  if (status.ok() && !invocation.validate_only) {
    status = Store(path, *root);
  }
  if (!status.ok()) {
    return Fail(status);
  }
  constexpr std::pair<std::string_view, std::string_view> kDone[] = {
      {"use", "is used from now on"}, {"delete", "deleted"}, {"create", "created"}, {"set", "set"}};
  for (const auto& [verb, done] : kDone) {
    if (verb == invocation.verb) {
      Say("context " + invocation.names[0] + " " + std::string(done) +
          (invocation.validate_only ? " (only checked, nothing changed)" : ""));
    }
  }
  return ExitCode::kDone;
}

}  // namespace

bool IsOfContexts(const Invocation& invocation) {
  constexpr std::string_view kVerbs[] = {"list", "get", "use", "create", "set", "delete"};
  return (invocation.type == "context" || invocation.type == "contexts") &&
         std::find(std::begin(kVerbs), std::end(kVerbs), invocation.verb) != std::end(kVerbs);
}

ExitCode RunOnContexts(const Invocation& invocation) {
  try {
    return Run(invocation);
  } catch (const YAML::Exception& bad) {
    return Fail(Error(absl::StatusCode::kInvalidArgument, "{}: {}", ContextsPath(),
                      std::string(bad.what())));
  }
}

}  // namespace croft::admin_cli
