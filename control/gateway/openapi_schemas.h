// Messages as JSON Schema (2020-12), which OpenAPI 3.1 uses: the shapes protobuf's JSON mapping
// gives them, with the bounds that control judges them by. Pure.
#pragma once

#include <google/protobuf/descriptor.h>

#include <map>
#include <string>

#include "control/gateway/json_node.h"
#include "proto/comments/api_comments.h"

namespace croft::control::gateway {

class OpenApiSchemas {
 public:
  explicit OpenApiSchemas(const comments::ApiComments& comments) : comments_(comments) {}

  // {"$ref": ...} to the message's schema, which is made with all that it refers to.
  JsonNode Refer(const google::protobuf::Descriptor& message);

  // By full name.
  const std::map<std::string, JsonNode>& schemas() const { return schemas_; }

 private:
  JsonNode BuildMessage(const google::protobuf::Descriptor& message);
  JsonNode BuildField(const google::protobuf::FieldDescriptor& field);
  JsonNode BuildValue(const google::protobuf::FieldDescriptor& field);

  const comments::ApiComments& comments_;
  std::map<std::string, JsonNode> schemas_;
};

}  // namespace croft::control::gateway
