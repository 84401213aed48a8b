// A manifest's text cut into its documents, before any of them is parsed. Pure. The text is
// untrusted.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace croft::admin_cli {

struct DocumentText {
  std::string_view text;  // of the manifest's
  int line = 1;           // of the manifest, that `text` begins on
  bool json = false;
};

struct ManifestText {
  std::vector<DocumentText> documents;
  // "12: a tab in the indentation; YAML is indented with spaces"
  std::vector<std::string> problems;
};

// YAML documents, which begin at lines with "---", or with `json` the values of a JSON text: one,
// one after the other (JSON lines), or the items of an array. What holds only comments is no
// document.
ManifestText SplitManifest(std::string_view text, bool json);

// Whether a text without a telling name is JSON: it begins with { or [.
bool LooksLikeJson(std::string_view text);

}  // namespace croft::admin_cli
