// The types a command can name, and how each is called in the API and shown in a table.
#pragma once

#include <absl/status/statusor.h>
#include <google/protobuf/message.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "proto/contract/resource_name.h"

namespace croft::admin_cli {

using MessagePtr = std::unique_ptr<google::protobuf::Message>;

struct Column {
  std::string_view title;
  // Field path as in contract/field_path.h.
  std::string_view path;
  // Only with -o wide.
  bool wide = false;
};

struct Noun {
  std::string_view noun;     // "site"
  std::string_view message;  // "croft.v1.Site"
  std::string_view service;  // "SiteService"
  std::string_view method;   // "Site": CreateSite, ListSites
  contract::ResourceType type;
  std::vector<Column> columns;
};

// By singular or plural; invalid_argument lists the nouns and the nearest one.
absl::StatusOr<const Noun*> FindNoun(std::string_view text);
const std::vector<Noun>& AllNouns();

// An empty message of a type known by name ("croft.v1.Site").
MessagePtr NewMessage(std::string_view full_name);
MessagePtr NewResource(const Noun& noun);

// "shop" -> "farms/main/sites/shop"; a name with "/" is taken as it is.
std::string FullName(const Noun& noun, std::string_view name, std::string_view farm);
// The farm that a full name lies in or is: "farms/main/sites/shop" -> "main"; "" if none.
std::string FarmOf(std::string_view full_name);
// "farms/main/sites/shop" -> "shop".
std::string_view ShortName(std::string_view name);

}  // namespace croft::admin_cli
