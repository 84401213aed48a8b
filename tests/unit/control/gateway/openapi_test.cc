#include "control/gateway/openapi.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <set>

#include "control/api/methods.h"

namespace croft::control::gateway {
namespace {

using google::protobuf::Struct;
using google::protobuf::Value;

const Struct& Document() {
  static const Struct document = [] {
    Struct parsed;
    EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(BuildOpenApi(), &parsed).ok());
    return parsed;
  }();
  return document;
}

// "a/b/c"; slashes within a key are written as ~1.
const Value& At(const std::string& path) {
  static const Value none;
  const Struct* in = &Document();
  const Value* found = &none;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    std::string key = path.substr(begin, end - begin);
    for (std::size_t at = key.find("~1"); at != std::string::npos; at = key.find("~1")) {
      key.replace(at, 2, "/");
    }
    const auto it = in->fields().find(key);
    if (it == in->fields().end()) {
      return none;
    }
    found = &it->second;
    in = &found->struct_value();
    begin = end + 1;
  }
  return *found;
}

void CollectReferences(const Value& value, std::set<std::string>& references) {
  for (const auto& [key, member] : value.struct_value().fields()) {
    if (key == "$ref") {
      references.insert(member.string_value());
    }
    CollectReferences(member, references);
  }
  for (const Value& item : value.list_value().values()) {
    CollectReferences(item, references);
  }
}

TEST(OpenApi, HasEveryMethodOfTheApiAndNothingElse) {
  std::set<std::string> expected;
  for (const auto* service : api::AllServices()) {
    for (int i = 0; i < service->method_count(); ++i) {
      if (service->file()->package() == "croft.v1") {
        expected.insert("/" + service->full_name() + "/" + service->method(i)->name());
      }
    }
  }
  std::set<std::string> paths;
  for (const auto& [path, item] : At("paths").struct_value().fields()) {
    paths.insert(path);
    const auto& post = item.struct_value().fields().at("post").struct_value().fields();
    for (const char* part : {"operationId", "requestBody", "responses", "tags"}) {
      EXPECT_EQ(post.count(part), 1U) << path << " " << part;
    }
  }
  EXPECT_EQ(paths, expected);
  EXPECT_EQ(At("openapi").string_value(), "3.1.0");
}

TEST(OpenApi, EveryReferenceLeadsSomewhere) {
  Value root;
  *root.mutable_struct_value() = Document();
  std::set<std::string> references;
  CollectReferences(root, references);
  EXPECT_GT(references.size(), 50U);
  for (const std::string& reference : references) {
    ASSERT_EQ(reference.substr(0, 2), "#/");
    EXPECT_NE(At(reference.substr(2)).kind_case(), Value::KIND_NOT_SET) << reference;
  }
}

TEST(OpenApi, OperationIdsAreUnique) {
  std::set<std::string> ids;
  for (const auto& [path, item] : At("paths").struct_value().fields()) {
    const auto& post = item.struct_value().fields().at("post").struct_value().fields();
    EXPECT_TRUE(ids.insert(post.at("operationId").string_value()).second) << path;
  }
}

TEST(OpenApi, FieldsCarryTheirRulesAndComments) {
  const std::string schemas = "components/schemas/croft.v1.";
  EXPECT_TRUE(At(schemas + "Site/properties/uid/readOnly").bool_value());
  EXPECT_TRUE(At(schemas + "Site/properties/organization/x-immutable").bool_value());
  EXPECT_EQ(At(schemas + "Site/properties/createTime/format").string_value(), "date-time");
  EXPECT_EQ(At(schemas + "Site/properties/labels/additionalProperties/type").string_value(),
            "string");
  EXPECT_EQ(At(schemas + "TimeoutSettings/properties/idle/minimum").number_value(), 1000);
  EXPECT_EQ(At(schemas + "Site/properties/name/description").string_value(),
            "\"farms/{farm}/sites/{site}\".");
  EXPECT_EQ(At(schemas + "Site/properties/state/enum").list_value().values_size(), 3);
  EXPECT_NE(At("paths/~1croft.v1.SiteService~1ExplainUrl/post/description").string_value(), "");
  EXPECT_NE(At("paths/~1croft.v1.ResourceService~1ImportResources/post/requestBody/content/"
               "application~1jsonl")
                .kind_case(),
            Value::KIND_NOT_SET);
  EXPECT_EQ(At("components/securitySchemes/token/scheme").string_value(), "bearer");
}

}  // namespace
}  // namespace croft::control::gateway
