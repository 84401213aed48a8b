// Builds the standard requests of a noun by reflection (CreateSiteRequest, ...), so that no command
// is written per type.
#pragma once

#include <google/protobuf/message.h>

#include <string>
#include <string_view>
#include <vector>

#include "admin-cli/invocation.h"
#include "admin-cli/nouns.h"

namespace croft::admin_cli {

// "Create", "Site" -> an empty croft.v1.CreateSiteRequest.
MessagePtr NewRequest(std::string_view verb, const Noun& noun);
// "SiteService/CreateSite"; the plural for List.
std::string MethodOf(std::string_view verb, const Noun& noun);

void SetString(google::protobuf::Message& message, std::string_view field,
               const std::string& value);
void SetBool(google::protobuf::Message& message, std::string_view field, bool value);
// A field mask; none stays unset.
void SetMask(google::protobuf::Message& message, std::string_view field,
             const std::vector<std::string>& paths);
void SetResource(google::protobuf::Message& request, const Noun& noun,
                 const google::protobuf::Message& resource);
// validate_only, request_id and reason from the options; field_manager and force where the request
// has them.
void SetWriteOptions(google::protobuf::Message& request, const Invocation& invocation);

std::int64_t RevisionOf(const google::protobuf::Message& resource);
std::string TextOf(const google::protobuf::Message& resource, std::string_view field);

}  // namespace croft::admin_cli
