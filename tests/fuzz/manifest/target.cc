// Manifests: what is read, written as a document, reads to the same.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "admin-cli/manifest.h"
#include "proto/base/check.h"
#include "proto/contract/strict_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace croft::admin_cli;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Manifest manifest;
  ReadManifest(text, "fuzz", "main", manifest);
  OrderManifest(manifest);
  for (const ManifestItem& item : manifest.items) {
    const std::string yaml = croft::contract::WriteYaml(*item.resource, true);
    Manifest again;
    ReadManifest(yaml, "again.yaml", "main", again);
    croft::Check(again.problems.empty() && again.items.size() == 1, "what is written is refused");
    croft::Check(croft::contract::WriteYaml(*again.items[0].resource, true) == yaml,
                 "writing and reading changes the resource");
  }
  return 0;
}
