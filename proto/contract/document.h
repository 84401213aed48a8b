// A YAML or JSON document as a tree, with the line each value stands on. Between text and message
// in both directions. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "proto/contract/violations.h"

namespace croft::contract {

inline constexpr std::size_t kDocumentBytesMax = 8 * 1024 * 1024;
inline constexpr std::size_t kDocumentDepthMax = 32;
inline constexpr std::size_t kDocumentNodesMax = 200'000;

struct DocumentMember;

struct DocumentNode {
  enum class Kind { kNull, kScalar, kList, kMap };

  Kind kind = Kind::kNull;
  // Of a scalar. A number or boolean is written without quotes.
  std::string text;
  bool is_string = false;
  int line = 0;  // 1-based
  std::vector<DocumentNode> items;
  std::vector<DocumentMember> members;
};

struct DocumentMember {
  std::string key;
  int line = 0;
  DocumentNode value;
};

// Exactly one document. Aliases, anchors, tags, keys that are no scalars, and what is too deep or
// too long are violations.
DocumentNode ParseDocument(std::string_view text, ViolationList& violations);

// The same from JSON proper (RFC 8259), which YAML is a superset of in name only. The first error
// is the only one.
DocumentNode ParseJson(std::string_view text, ViolationList& violations);

std::string RenderYaml(const DocumentNode& node);
std::string RenderJson(const DocumentNode& node);

}  // namespace croft::contract
