#include <algorithm>
#include <array>

#include "proto/base/error.h"
#include "proto/contract/document.h"

namespace croft::contract {
namespace {

using Kind = DocumentNode::Kind;

// A JSON string, which is a YAML one too.
std::string Quote(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (IsControl(c)) {
      quoted += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      quoted += c;
    }
  }
  quoted += '"';
  return quoted;
}

// Whether every YAML reader takes the bare text for this string.
bool IsPlainInYaml(std::string_view text) {
  constexpr std::array<std::string_view, 9> kWords = {"true", "false", "yes", "no", "on",
                                                      "off",  "null",  "y",   "n"};
  const auto is_plain = [](char c) {
    return (IsLetter(c) || IsDigit(c)) || c == '.' || c == '/' || c == '-' || c == '_';
  };
  const bool has_plain_start = !text.empty() && (IsLetter(text.front()) || text.front() == '/');
  const std::string lower = LowerAscii(text);
  return has_plain_start && std::all_of(text.begin(), text.end(), is_plain) &&
         std::find(kWords.begin(), kWords.end(), lower) == kWords.end();
}

std::string YamlText(std::string_view text, bool is_string) {
  return !is_string || IsPlainInYaml(text) ? std::string(text) : Quote(text);
}

// What stands on the line of its key or dash; empty for a block below it.
std::string YamlInline(const DocumentNode& node) {
  switch (node.kind) {
    case Kind::kNull:
      return "null";
    case Kind::kScalar:
      return YamlText(node.text, node.is_string);
    case Kind::kList:
      return node.items.empty() ? "[]" : "";
    case Kind::kMap:
      return node.members.empty() ? "{}" : "";
  }
  return "";
}

void RenderYamlBlock(const DocumentNode& node, std::size_t indent, std::string& out);

// `out` ends with the key's colon or the item's dash.
void RenderYamlValue(const DocumentNode& node, std::size_t indent, std::string& out) {
  if (const std::string text = YamlInline(node); !text.empty()) {
    out += " " + text + "\n";
    return;
  }
  out += "\n";
  RenderYamlBlock(node, indent, out);
}

// REQUIRES: a list or a map that is not empty.
void RenderYamlBlock(const DocumentNode& node, std::size_t indent, std::string& out) {
  const std::string margin(indent, ' ');
  for (const DocumentMember& member : node.members) {
    out += margin + YamlText(member.key, true) + ":";
    RenderYamlValue(member.value, indent + 2, out);
  }
  for (const DocumentNode& item : node.items) {
    out += margin + "-";
    if (item.kind != Kind::kMap || item.members.empty()) {
      RenderYamlValue(item, indent + 2, out);
      continue;
    }
    // The first member stands beside the dash.
    std::string block;
    RenderYamlBlock(item, indent + 2, block);
    out += " " + block.substr(indent + 2);
  }
}

void RenderJsonNode(const DocumentNode& node, std::size_t indent, std::string& out) {
  const std::string margin(indent + 2, ' ');
  std::string separator = "\n";
  switch (node.kind) {
    case Kind::kNull:
      out += "null";
      return;
    case Kind::kScalar:
      out += node.is_string ? Quote(node.text) : node.text;
      return;
    case Kind::kList:
      out += "[";
      for (const DocumentNode& item : node.items) {
        out += separator + margin;
        RenderJsonNode(item, indent + 2, out);
        separator = ",\n";
      }
      out += (node.items.empty() ? "" : "\n" + std::string(indent, ' ')) + "]";
      return;
    case Kind::kMap:
      out += "{";
      for (const DocumentMember& member : node.members) {
        out += separator + margin + Quote(member.key) + ": ";
        RenderJsonNode(member.value, indent + 2, out);
        separator = ",\n";
      }
      out += (node.members.empty() ? "" : "\n" + std::string(indent, ' ')) + "}";
      return;
  }
}

}  // namespace

std::string RenderYaml(const DocumentNode& node) {
  if (const std::string text = YamlInline(node); !text.empty()) {
    return text + "\n";
  }
  std::string out;
  RenderYamlBlock(node, 0, out);
  return out;
}

std::string RenderJson(const DocumentNode& node) {
  std::string out;
  RenderJsonNode(node, 0, out);
  return out + "\n";
}

}  // namespace croft::contract
