#include "control/gateway/openapi.h"

#include <absl/status/status.h>
#include <google/protobuf/descriptor.h>

#include <utility>

#include "control/api/methods.h"
#include "control/gateway/connect_error.h"
#include "control/gateway/json_node.h"
#include "control/gateway/openapi_schemas.h"
#include "croft/v1/error.pb.h"
#include "proto/comments/api_comments.h"

namespace croft::control::gateway {
namespace {

using google::protobuf::MethodDescriptor;

constexpr char kJson[] = "application/json";
constexpr char kJsonLines[] = "application/jsonl";

JsonNode Reference(const char* to) {
  JsonNode node = JsonMap();
  JsonPut(node, "$ref", JsonText(to));
  return node;
}

JsonNode Content(const char* type, JsonNode schema) {
  JsonNode media = JsonMap();
  JsonPut(media, "schema", std::move(schema));
  JsonNode content = JsonMap();
  JsonPut(content, type, std::move(media));
  return content;
}

JsonNode BuildResponse(const MethodDescriptor& method, OpenApiSchemas& schemas) {
  const bool stream = method.server_streaming();
  JsonNode response = JsonMap();
  JsonPut(response, "description",
          JsonText(stream ? "Messages as lines, as they come. An error is a last line "
                            "{\"error\": ...}."
                          : "What was asked for."));
  if (!stream) {
    JsonNode counts = JsonMap();
    JsonPut(counts, "description",
            JsonText("Of a write: what it did, or with validateOnly would have done."));
    JsonNode text = JsonMap();
    JsonPut(text, "type", JsonText("string"));
    JsonPut(text, "examples", JsonList({JsonText("created=1")}));
    JsonPut(counts, "schema", std::move(text));
    JsonNode headers = JsonMap();
    JsonPut(headers, api::kCountsHeader, std::move(counts));
    JsonPut(response, "headers", std::move(headers));
  }
  JsonPut(response, "content",
          Content(stream ? kJsonLines : kJson, schemas.Refer(*method.output_type())));
  return response;
}

JsonNode BuildOperation(const MethodDescriptor& method, const comments::ApiComments& comments,
                        OpenApiSchemas& schemas) {
  JsonNode operation = JsonMap();
  JsonPut(operation, "operationId", JsonText(method.service()->name() + "_" + method.name()));
  JsonPut(operation, "tags", JsonList({JsonText(method.service()->name())}));
  if (std::string comment = comments.Of(method.full_name()); !comment.empty()) {
    JsonPut(operation, "description", JsonText(std::move(comment)));
  }
  JsonNode body = JsonMap();
  JsonPut(body, "required", JsonBare("true"));
  JsonPut(
      body, "content",
      Content(method.client_streaming() ? kJsonLines : kJson, schemas.Refer(*method.input_type())));
  JsonPut(operation, "requestBody", std::move(body));
  JsonNode responses = JsonMap();
  JsonPut(responses, "200", BuildResponse(method, schemas));
  JsonPut(responses, "default", Reference("#/components/responses/Error"));
  JsonPut(operation, "responses", std::move(responses));
  return operation;
}

// What ErrorJson writes.
JsonNode BuildErrorSchema(OpenApiSchemas& schemas) {
  JsonNode codes = JsonList();
  for (int code = 1; code <= 16; ++code) {
    codes.items.push_back(JsonText(std::string(CodeName(static_cast<absl::StatusCode>(code)))));
  }
  const auto text = [] {
    JsonNode schema = JsonMap();
    JsonPut(schema, "type", JsonText("string"));
    return schema;
  };
  const auto object = [](JsonNode properties) {
    JsonNode schema = JsonMap();
    JsonPut(schema, "type", JsonText("object"));
    JsonPut(schema, "properties", std::move(properties));
    return schema;
  };
  JsonNode code = text();
  JsonPut(code, "enum", std::move(codes));
  JsonNode detail = JsonMap();
  JsonPut(detail, "type", text());
  JsonPut(detail, "value", text());
  JsonPut(detail, "debug", schemas.Refer(*v1::ErrorDetail::descriptor()));
  JsonNode details = JsonMap();
  JsonPut(details, "type", JsonText("array"));
  JsonPut(details, "items", object(std::move(detail)));
  JsonNode properties = JsonMap();
  JsonPut(properties, "code", std::move(code));
  JsonPut(properties, "message", text());
  JsonPut(properties, "details", std::move(details));
  return object(std::move(properties));
}

JsonNode BuildComponents(OpenApiSchemas& schemas) {
  JsonNode all = JsonMap();
  JsonPut(all, "Error", BuildErrorSchema(schemas));
  for (const auto& [name, schema] : schemas.schemas()) {
    JsonPut(all, name, schema);
  }
  JsonNode error = JsonMap();
  JsonPut(error, "description", JsonText("What went wrong, as the Connect protocol has it."));
  JsonPut(error, "content", Content(kJson, Reference("#/components/schemas/Error")));
  JsonNode responses = JsonMap();
  JsonPut(responses, "Error", std::move(error));
  JsonNode bearer = JsonMap();
  JsonPut(bearer, "type", JsonText("http"));
  JsonPut(bearer, "scheme", JsonText("bearer"));
  JsonNode security = JsonMap();
  JsonPut(security, "token", std::move(bearer));
  JsonNode components = JsonMap();
  JsonPut(components, "schemas", std::move(all));
  JsonPut(components, "responses", std::move(responses));
  JsonPut(components, "securitySchemes", std::move(security));
  return components;
}

JsonNode BuildHead() {
  JsonNode info = JsonMap();
  JsonPut(info, "title", JsonText("Croft"));
  JsonPut(info, "version", JsonText("v1"));
  JsonPut(info, "description",
          JsonText("The API of croft-control over HTTPS. Every call is a POST whose body is the "
                   "request message; names may be lowerCamelCase or as in the .proto files."));
  JsonNode document = JsonMap();
  JsonPut(document, "openapi", JsonText("3.1.0"));
  JsonPut(document, "info", std::move(info));
  JsonNode token = JsonMap();
  JsonPut(token, "token", JsonList());
  JsonPut(document, "security", JsonList({std::move(token)}));
  return document;
}

}  // namespace

std::string BuildOpenApi() {
  const comments::ApiComments comments;
  OpenApiSchemas schemas(comments);
  JsonNode paths = JsonMap();
  JsonNode tags = JsonList();
  for (const google::protobuf::ServiceDescriptor* service : api::AllServices()) {
    if (service->file()->package() != "croft.v1") {
      continue;
    }
    JsonNode tag = JsonMap();
    JsonPut(tag, "name", JsonText(service->name()));
    if (std::string comment = comments.Of(service->full_name()); !comment.empty()) {
      JsonPut(tag, "description", JsonText(std::move(comment)));
    }
    tags.items.push_back(std::move(tag));
    for (int i = 0; i < service->method_count(); ++i) {
      const MethodDescriptor& method = *service->method(i);
      JsonNode path = JsonMap();
      JsonPut(path, "post", BuildOperation(method, comments, schemas));
      JsonPut(paths, "/" + service->full_name() + "/" + method.name(), std::move(path));
    }
  }
  JsonNode document = BuildHead();
  JsonPut(document, "tags", std::move(tags));
  JsonPut(document, "paths", std::move(paths));
  JsonPut(document, "components", BuildComponents(schemas));
  return contract::RenderJson(document);
}

}  // namespace croft::control::gateway
