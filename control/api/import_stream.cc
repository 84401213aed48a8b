#include "control/api/import_stream.h"

#include <memory>
#include <optional>
#include <utility>

#include "croft/v1/account.pb.h"
#include "proto/base/error.h"

namespace croft::control::api {
namespace {

class AccountImport final : public StreamHandler {
 public:
  explicit AccountImport(domain::Resources& resources) : resources_(resources) {}

  absl::StatusOr<Turn> OnRequest(const domain::Caller& caller,
                                 const google::protobuf::Message& request) override {
    auto batch = static_cast<const v1::ImportAccountsRequest&>(request);
    if (batch.rows_size() > kImportRowsMax) {
      return Error(absl::StatusCode::kInvalidArgument,
                   "a message of an import has {} rows; send at most {} and wait for the answer",
                   batch.rows_size(), kImportRowsMax);
    }
    CarryOver(batch);
    auto response = resources_.ImportAccounts(caller, batch);
    if (!response.ok()) {
      return response.status();
    }
    Turn turn;
    turn.messages.push_back(std::make_unique<v1::ImportAccountsResponse>(*std::move(response)));
    return turn;
  }

 private:
  // Parent and mode are the first message's.
  void CarryOver(v1::ImportAccountsRequest& batch) {
    if (!first_.has_value()) {
      first_.emplace();
      first_->set_parent(batch.parent());
      first_->set_validate_only(batch.validate_only());
    }
    batch.set_parent(first_->parent());
    batch.set_validate_only(first_->validate_only());
  }

  domain::Resources& resources_;
  std::optional<v1::ImportAccountsRequest> first_;
};

}  // namespace

void AddImportAccounts(domain::Resources& resources, StreamMethods& streams) {
  streams.Add("croft.v1.AccountService.ImportAccounts",
              [&resources](const Wake&) { return std::make_unique<AccountImport>(resources); });
}

}  // namespace croft::control::api
