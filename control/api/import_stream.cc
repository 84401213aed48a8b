#include "control/api/import_stream.h"

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <memory>
#include <optional>
#include <utility>

#include "control/api/peer.h"
#include "control/api/stream_end.h"
#include "control/api/wire.h"
#include "proto/base/error.h"

namespace croft::control::api {
namespace {

// One operation is outstanding at a time: a read, or a batch with its answer's write.
class ImportStream final : public BytesReactor, public std::enable_shared_from_this<ImportStream> {
 public:
  ImportStream(Credentials credentials, const Services& services)
      : credentials_(std::move(credentials)), services_(services) {}

  void Start() {
    self_ = shared_from_this();
    StartRead(&in_);
  }

  void OnReadDone(bool ok) override {
    if (!ok) {
      FinishIf(end_.End(absl::OkStatus()));
      return;
    }
    auto batch = std::make_shared<v1::ImportAccountsRequest>();
    absl::Status status = ParseStrictly(in_, *batch);
    in_.Clear();
    if (status.ok()) {
      status = CarryOver(*batch);
    }
    if (!status.ok()) {
      FinishIf(end_.End(status));
      return;
    }
    if (!end_.Begin()) {
      return;
    }
    if (!services_.executor.TryPush([stream = self_, batch] { stream->Import(*batch); })) {
      EndOperation(BusyError());
    }
  }

  void OnWriteDone(bool ok) override {
    if (!ok) {
      EndOperation(Error(absl::StatusCode::kUnavailable, "the connection broke"));
      return;
    }
    StartRead(&in_);
    FinishIf(end_.Complete());
  }

  void OnCancel() override {
    FinishIf(
        end_.End(Error(absl::StatusCode::kCancelled, "the caller left, or control is stopping")));
  }

  void OnDone() override { self_.reset(); }

 private:
  // Carries parent and mode over from the first message, and bounds the batch.
  absl::Status CarryOver(v1::ImportAccountsRequest& batch) {
    if (batch.rows_size() > kImportRowsMax) {
      return Error(absl::StatusCode::kInvalidArgument,
                   "a message of an import has {} rows; send at most {} and wait for the answer",
                   batch.rows_size(), kImportRowsMax);
    }
    if (!first_.has_value()) {
      first_.emplace();
      first_->set_parent(batch.parent());
      first_->set_validate_only(batch.validate_only());
    }
    batch.set_parent(first_->parent());
    batch.set_validate_only(first_->validate_only());
    return absl::OkStatus();
  }

  void Import(const v1::ImportAccountsRequest& batch) {
    const auto caller = services_.authorizer.GetOperator(credentials_);
    const auto response = caller.ok() ? services_.resources.ImportAccounts(*caller, batch)
                                      : absl::StatusOr<v1::ImportAccountsResponse>(caller.status());
    if (!response.ok()) {
      EndOperation(response.status());
      return;
    }
    out_ = Serialize(*response);
    StartWrite(&out_);
  }

  void EndOperation(const absl::Status& status) {
    FinishIf(end_.End(status));
    FinishIf(end_.Complete());
  }

  void FinishIf(const std::optional<absl::Status>& status) {
    if (status.has_value()) {
      Finish(ToGrpc(*status));
    }
  }

  const Credentials credentials_;
  const Services services_;
  StreamEnd end_;
  // The outstanding operation's.
  std::optional<v1::ImportAccountsRequest> first_;
  grpc::ByteBuffer in_;
  grpc::ByteBuffer out_;
  std::shared_ptr<ImportStream> self_;
};

}  // namespace

BytesReactor* StartImportStream(const grpc::CallbackServerContext& context,
                                const Services& services) {
  const auto stream = std::make_shared<ImportStream>(ReadCredentials(context), services);
  stream->Start();
  return stream.get();
}

}  // namespace croft::control::api
