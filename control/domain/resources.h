// The use cases of resources: create, get, list, update, delete, undelete, the same for
// every type. Blocking (the store's); thread-safe. Input is validated by the contract, then against
// the other resources; everything or nothing is written. Errors carry an ErrorDetail.
#pragma once

#include <absl/status/statusor.h>
#include <google/protobuf/field_mask.pb.h>
#include <google/protobuf/message.h>

#include <memory>
#include <string>
#include <vector>

#include "control/domain/access.h"
#include "control/domain/token_rules.h"
#include "control/store/store.h"
#include "croft/v1/operator.pb.h"
#include "croft/v1/resource.pb.h"
#include "proto/base/clock.h"

namespace croft::control::domain {

using MessagePtr = std::unique_ptr<google::protobuf::Message>;

struct WriteOptions {
  bool validate_only = false;
  std::string request_id = {};
  std::string request_fingerprint = {};  // of the whole request message
  std::string reason = {};
  std::string field_manager = {};
  bool force = false;          // takes fields over from their managers
  bool if_absent = false;      // create: an existing resource is the answer
  bool allow_missing = false;  // delete: that there is none is no error
};

// The response to a write, and what was done, or with validate_only would be.
struct Written {
  MessagePtr answer;
  v1::Counts counts;
  bool repeated = false;  // the answer that was given to this request id before
  // It wrote what is no change of a resource (a field has another owner), which is kept without
  // one.
  bool keeps = false;
};

struct ListRequest {
  contract::ResourceType type = contract::ResourceType::kSite;
  std::string parent = {};
  int page_size = 0;
  std::string page_token = {};
  std::string filter = {};
  std::string order_by = {};
  bool show_deleted = false;
};

struct Page {
  std::vector<MessagePtr> resources;
  std::string next_page_token;
};

class Resources {
 public:
  explicit Resources(store::Store& store) : store_(store), access_(store) {}

  // Who may do what; what callers may not see is not found here.
  Access& access() { return access_; }

  // Answers carry every output-only field, `revision` that of the change just committed.
  absl::StatusOr<Written> Create(const Caller& caller, std::string_view parent, std::string_view id,
                                 const google::protobuf::Message& resource,
                                 const WriteOptions& options);
  // Create of a token with a secret that is there already; the answer doesn't have it.
  absl::StatusOr<Written> CreateToken(const Caller& caller, std::string_view id,
                                      const v1::Token& token, const TokenSecret& secret,
                                      const WriteOptions& options);
  absl::StatusOr<MessagePtr> Get(const Caller& caller, contract::ResourceType type,
                                 std::string_view name, bool show_deleted = false);
  absl::StatusOr<Page> List(const Caller& caller, const ListRequest& request);
  absl::StatusOr<Written> Update(const Caller& caller, const google::protobuf::Message& resource,
                                 const google::protobuf::FieldMask& mask,
                                 const WriteOptions& options);
  absl::StatusOr<Written> Delete(const Caller& caller, contract::ResourceType type,
                                 std::string_view name, std::string_view etag,
                                 const WriteOptions& options);
  // Uid 0: the one of that name which was deleted last. Whatever it needs has to be there still.
  absl::StatusOr<Written> Undelete(const Caller& caller, contract::ResourceType type,
                                   std::string_view name, std::int64_t uid,
                                   const WriteOptions& options);

  // Makes the platform, organizations/root and nothing else, if they are not there.
  absl::Status CreateFirstResources();

 private:
  absl::StatusOr<Written> CreateWith(const Caller& caller, const std::string& name,
                                     const google::protobuf::Message& resource,
                                     const WriteOptions& options, const TokenSecret* secret);

  store::Store& store_;
  Access access_;
};

}  // namespace croft::control::domain
