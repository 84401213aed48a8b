// Media types by file extension: the built-in table (mime_table.cc) below a site's own. Pure.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

namespace croft::node::worker::http {

struct MimeEntry {
  std::string_view extension;  // lower case, without the dot
  std::string_view type;       // with its charset where it is text
};

// Sorted by extension.
std::span<const MimeEntry> BuiltInMimeTypes();

// A site's entries (extension -> type); an empty type takes a built-in entry away.
using MimeOverrides = std::map<std::string, std::string, std::less<>>;

// Of a file name or path; empty when its extension is unknown or it has none. The view lives as
// long as `overrides`.
std::string_view FindMimeType(std::string_view file_name, const MimeOverrides& overrides);

}  // namespace croft::node::worker::http
