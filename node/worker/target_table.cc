#include "node/worker/target_table.h"

#include <utility>

#include "node/link/target_codec.h"
#include "proto/base/error.h"

namespace croft::node::worker {

absl::Status TargetTable::Define(std::string_view header) {
  const auto decoded = link::DecodeSettings(header);
  if (!decoded.ok()) {
    return decoded.status();
  }
  auto compiled = handlers::CompileSettings(decoded->settings, stores_);
  if (!compiled.ok()) {
    return compiled.status();
  }
  if (settings_.size() <= decoded->number) {
    settings_.resize(decoded->number + 1);
  }
  settings_[decoded->number] = *std::move(compiled);
  return absl::OkStatus();
}

absl::Status TargetTable::Resolve(std::string_view header, http::Request& request) const {
  auto target = link::DecodeTarget(header);
  if (!target.ok()) {
    return target.status();
  }
  const std::uint32_t number = target->settings_number;
  if (number >= settings_.size() || settings_[number] == nullptr) {
    return Error(absl::StatusCode::kFailedPrecondition,
                 "a target names settings {}, which this connection has not sent", number);
  }
  request.site = settings_[number];
  request.root = std::move(target->root);
  request.strip = target->strip;
  return absl::OkStatus();
}

}  // namespace croft::node::worker
