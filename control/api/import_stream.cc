#include "control/api/import_stream.h"

#include <memory>
#include <optional>
#include <utility>

#include "control/domain/resource_import.h"

namespace croft::control::api {
namespace {

// Errors in one message; with their reasons it stays well below what a message may be.
constexpr int kErrorsPerMessage = 2000;

// The answer, in pieces where there are very many errors; what is counted is in the last one.
Turn ToTurn(v1::ImportResourcesResponse response) {
  Turn turn;
  while (response.errors_size() > kErrorsPerMessage) {
    auto piece = std::make_unique<v1::ImportResourcesResponse>();
    piece->mutable_errors()->Assign(response.errors().begin(),
                                    response.errors().begin() + kErrorsPerMessage);
    response.mutable_errors()->DeleteSubrange(0, kErrorsPerMessage);
    turn.messages.push_back(std::move(piece));
  }
  turn.messages.push_back(std::make_unique<v1::ImportResourcesResponse>(std::move(response)));
  return turn;
}

class ResourceImport final : public StreamHandler {
 public:
  ResourceImport(store::Store& store, domain::Access& access) : store_(store), access_(access) {}

  absl::StatusOr<Turn> OnRequest(const domain::Caller& caller,
                                 const google::protobuf::Message& request) override {
    const auto& batch = static_cast<const v1::ImportResourcesRequest&>(request);
    if (!options_.has_value()) {
      options_ = {.validate_only = batch.validate_only(),
                  .reason = batch.reason(),
                  .field_manager = batch.field_manager(),
                  .force = batch.force()};
    }
    auto response = domain::Import(store_, access_, caller, batch.rows(), *options_);
    return response.ok() ? absl::StatusOr<Turn>(ToTurn(*std::move(response))) : response.status();
  }

 private:
  store::Store& store_;
  domain::Access& access_;
  std::optional<domain::WriteOptions> options_;  // the first message's
};

}  // namespace

void AddImports(store::Store& store, domain::Resources& resources, StreamMethods& streams) {
  streams.Add("croft.v1.ResourceService.ImportResources", [&store, &resources](const Wake&) {
    return std::make_unique<ResourceImport>(store, resources.access());
  });
}

}  // namespace croft::control::api
