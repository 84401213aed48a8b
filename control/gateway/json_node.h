// Short ways to make a JSON document, which contract::RenderJson writes. Pure.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "proto/contract/document.h"

namespace croft::control::gateway {

using JsonNode = contract::DocumentNode;

inline JsonNode JsonText(std::string text) {
  JsonNode node;
  node.kind = JsonNode::Kind::kScalar;
  node.text = std::move(text);
  node.is_string = true;
  return node;
}

// A number or boolean.
inline JsonNode JsonBare(std::string text) {
  JsonNode node = JsonText(std::move(text));
  node.is_string = false;
  return node;
}

inline JsonNode JsonList(std::vector<JsonNode> items = {}) {
  JsonNode node;
  node.kind = JsonNode::Kind::kList;
  node.items = std::move(items);
  return node;
}

inline JsonNode JsonMap() {
  JsonNode node;
  node.kind = JsonNode::Kind::kMap;
  return node;
}

inline void JsonPut(JsonNode& map, std::string key, JsonNode value) {
  map.members.push_back({std::move(key), 0, std::move(value)});
}

}  // namespace croft::control::gateway
