#include "control/store/conflicts.h"

#include <string>

#include "proto/base/error.h"
#include "proto/contract/binding_rules.h"
#include "proto/contract/errors.h"

namespace croft::control::store {
namespace {

// "*:443:shop.example"; the bytes in hexadecimal would help nobody, so a key that can't be read is
// called that.
std::string DescribeBinding(std::string_view encoded_key) {
  const auto key = contract::DecodeBindingKey(encoded_key);
  if (!key.ok()) {
    return "(unreadable binding)";
  }
  v1::Binding binding;
  binding.set_ip(contract::FormatIp(key->ip));
  binding.set_port(key->port);
  binding.set_host(key->host);
  return contract::FormatBinding(binding);
}

}  // namespace

absl::Status NameTaken(std::string_view name) {
  v1::ErrorDetail detail;
  detail.set_reason("NAME_TAKEN");
  detail.set_resource(std::string(name));
  return contract::WithDetail(Error(absl::StatusCode::kAlreadyExists,
                                    "{} already exists; choose another name or update it", name),
                              detail);
}

absl::Status BindingTaken(std::string_view encoded_key, std::string_view holder) {
  v1::ErrorDetail detail;
  detail.set_reason("BINDING_TAKEN");
  detail.set_resource(std::string(holder));
  return contract::WithDetail(Error(absl::StatusCode::kAlreadyExists,
                                    "binding {} already belongs to {}; remove it there first",
                                    DescribeBinding(encoded_key), holder),
                              detail);
}

absl::Status HomeTaken(std::string_view path, std::string_view holder) {
  v1::ErrorDetail detail;
  detail.set_reason("HOME_TAKEN");
  detail.set_resource(std::string(holder));
  return contract::WithDetail(
      Error(absl::StatusCode::kAlreadyExists,
            "home {} already belongs to {}; choose another path, or leave home out", path, holder),
      detail);
}

absl::Status IdentityTaken(std::string_view pool, std::string_view holder) {
  v1::ErrorDetail detail;
  detail.set_reason("IDENTITY_TAKEN");
  detail.set_resource(std::string(holder));
  return contract::WithDetail(
      Error(absl::StatusCode::kAlreadyExists,
            "the identity that {} had belongs to {} by now; delete that first, or create a new "
            "pool",
            pool, holder),
      detail);
}

absl::Status Conflict(std::string_view what) {
  v1::ErrorDetail detail;
  detail.set_reason("CONFLICT");
  detail.set_retryable(true);
  return contract::WithDetail(Error(absl::StatusCode::kAborted,
                                    "{} was changed by someone else meanwhile; try again", what),
                              detail);
}

}  // namespace croft::control::store
