#include "node/worker/handlers/site_settings.h"

#include <fmt/format.h>

#include <utility>

#include "proto/base/error.h"

namespace croft::node::worker::handlers {
namespace {

// A default document is a file of the directory itself: a name with a slash or dots only would be
// another place.
bool IsFileName(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
         name.find('\0') == std::string::npos;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const SiteSettings>> CompileSettings(
    const node::v1::TargetSettings& settings, store::Stores& stores) {
  if (!settings.store_path().starts_with('/')) {
    return Error(absl::StatusCode::kInvalidArgument, "store {} has no absolute path",
                 settings.store_uid());
  }
  auto site = std::make_shared<SiteSettings>();
  site->store = stores.Get(settings.store_uid(), settings.store_path());
  const auto& documents = settings.settings().default_documents();
  if (documents.enabled()) {
    for (const std::string& name : documents.names().values()) {
      if (IsFileName(name)) {
        site->default_documents.push_back(name);
      }
    }
  }
  const auto& files = settings.settings().static_files();
  site->mime_types.insert(files.mime_types().entries().begin(), files.mime_types().entries().end());
  site->unknown_mime_type = files.unknown_mime_type();
  const auto& hidden = files.hidden_segments().values();
  site->hidden = http::HiddenSegments(std::vector<std::string>(hidden.begin(), hidden.end()));
  site->etag = files.etag();
  if (files.cache_max_age() > 0) {
    site->cache_control = fmt::format("max-age={}", files.cache_max_age() / 1000);
  }
  return std::shared_ptr<const SiteSettings>(std::move(site));
}

}  // namespace croft::node::worker::handlers
