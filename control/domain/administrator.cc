#include "control/domain/administrator.h"

#include "control/domain/access.h"
#include "control/domain/resource_message.h"
#include "control/domain/token_rules.h"
#include "control/identity/tokens.h"
#include "croft/v1/operator.pb.h"
#include "proto/base/error.h"
#include "proto/base/log.h"
#include "proto/contract/errors.h"

namespace croft::control::domain {
namespace {

constexpr std::string_view kId = "administrator";
constexpr std::string_view kOperator = "operators/administrator";
constexpr std::int64_t kLifetimeMs = std::int64_t{3650} * 24 * 60 * 60 * 1000;
constexpr int kTokensMax = 1000;

WriteOptions Because(std::string reason) {
  WriteOptions options;
  options.reason = std::move(reason);
  return options;
}

absl::Status MakeOperator(store::Store& store, Resources& resources) {
  const auto found = store.Find(kOperator);
  if (!found.ok() || found->has_value()) {
    return found.status();
  }
  v1::Operator administrator;
  administrator.set_display_name("Made with the database");
  v1::Grant& grant = *administrator.add_grants();
  grant.set_organization("organizations/root");
  grant.set_role(v1::ADMINISTRATOR);
  const auto created = resources.Create(SystemCaller("croft-control"), "", kId, administrator,
                                        Because("first administrator"));
  return absl::IsAlreadyExists(created.status()) ? absl::OkStatus() : created.status();
}

// tokens/administrator, or with a number where that is taken: an instance with a data directory of
// its own, or an older secret whose file was lost.
absl::StatusOr<std::string> MakeToken(Resources& resources, const TokenSecret& secret,
                                      std::string reason) {
  v1::Token token;
  token.set_operator_(std::string(kOperator));
  token.set_lifetime(kLifetimeMs);
  for (int number = 1; number <= kTokensMax; ++number) {
    const std::string id = number == 1 ? std::string(kId) : fmt::format("{}-{}", kId, number);
    const auto created =
        resources.CreateToken(SystemCaller("croft-control"), id, token, secret, Because(reason));
    if (created.ok()) {
      return "tokens/" + id;
    }
    const auto detail = contract::FindDetail(created.status());
    if (!detail.has_value() || detail->reason() != "NAME_TAKEN") {
      return created.status();
    }
  }
  return Error(absl::StatusCode::kResourceExhausted,
               "there are {} tokens of {}; delete those that are not used (croft list tokens)",
               kTokensMax, kOperator);
}

}  // namespace

absl::StatusOr<std::string> KeepAdministratorToken(store::Store& store, Resources& resources,
                                                   const Clock& clock, const std::string& token) {
  if (absl::Status status = MakeOperator(store, resources); !status.ok()) {
    return status;
  }
  const std::string hash = token.empty() ? "" : identity::HashToken(token);
  const auto unclaimed = store.ListUnclaimedTokens();
  if (!unclaimed.ok()) {
    return unclaimed.status();
  }
  for (const std::string& one : *unclaimed) {
    const auto made = MakeToken(resources, {.secret = "", .hash = one}, "token of before");
    if (absl::IsAlreadyExists(made.status())) {
      continue;  // another instance was faster
    }
    if (!made.ok()) {
      return made.status();
    }
    log::Info("identity", "an administrator's token of before has a name now", {{"token", *made}});
  }
  if (!token.empty()) {
    const auto session = store.FindOperatorToken(hash);
    if (!session.ok()) {
      return session.status();
    }
    if (session->has_value() && ExpiryOf((*session)->token_row) > clock.Now()) {
      return token;
    }
  }
  const TokenSecret secret = MakeTokenSecret();
  const auto made = MakeToken(resources, secret, "first administrator");
  if (!made.ok()) {
    return made.status();
  }
  log::Info("identity", "made an administrator's token", {{"token", *made}});
  return secret.secret;
}

}  // namespace croft::control::domain
