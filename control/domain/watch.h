// Resources as they change, for one caller: every committed change once, in the order of revisions,
// as that change left the resource; before that, where it is asked for, what exists. One thread;
// blocks on the store. Its memory is that of one page.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "control/domain/access.h"
#include "control/domain/resources.h"
#include "control/domain/row_filter.h"
#include "control/store/store.h"
#include "croft/v1/resource.pb.h"

namespace croft::control::domain {

class ResourceWatch {
 public:
  struct Page {
    std::vector<v1::WatchResourcesResponse> events;  // each with the token that goes on after it
    bool more = false;                               // there is more to read right now
  };

  // failed_precondition, reason WATCH_EXPIRED, where a resume_token can't be gone on from.
  static absl::StatusOr<std::unique_ptr<ResourceWatch>> Open(
      store::Store& store, Access& access, const Caller& caller,
      const v1::WatchResourcesRequest& request);

  // For Open, which makes it ready.
  ResourceWatch(store::Store& store, Access& access, v1::WatchResourcesRequest request)
      : store_(store), access_(access), request_(std::move(request)) {}

  // The next piece of a bounded amount of work, which may come to nothing. The caller's grants may
  // change between two calls.
  absl::StatusOr<Page> Next(const Caller& caller);
  // Nothing happened up to where the watch is.
  v1::WatchResourcesResponse MakeBookmark() const;

 private:
  // Of what exists: where the list of each type is, and which revision it is to be as of.
  struct Listing {
    std::size_t type = 0;  // index into types_
    std::string after_name = {};
    std::int64_t after_uid = 0;
  };

  absl::Status ReadRequest();
  // Where to begin: at a token, or now.
  absl::Status Begin(const Caller& caller);
  absl::Status Resume(const Caller& caller, const store::FeedHead& head);

  absl::StatusOr<Page> NextExisting(const Caller& caller);
  absl::StatusOr<Page> NextChanges(const Caller& caller);
  absl::StatusOr<std::vector<store::StoredResource>> ReadListing(const Caller& caller);
  // What existed when the watch began; null where it didn't, or is not selected.
  absl::StatusOr<MessagePtr> AsOfBegin(const store::StoredResource& row);
  // Adds what the version means to the caller, if anything.
  absl::Status AddVersion(const Caller& caller, const store::Version& version, Page& page);
  absl::StatusOr<bool> Matches(const store::StoredResource& row,
                               const google::protobuf::Message& message);
  bool IsWatched(const store::StoredResource& row) const;
  v1::WatchResourcesResponse MakeEvent(v1::WatchResourcesResponse::Kind kind,
                                       std::int64_t revision) const;
  std::string Describe() const;
  std::string MakeToken() const;

  store::Store& store_;
  Access& access_;
  const v1::WatchResourcesRequest request_;
  std::vector<contract::ResourceType> types_;
  std::string members_of_;  // "farms/main/", or empty
  std::optional<RowFilter> filter_;
  std::uint64_t epoch_ = 0;
  store::LogPosition position_;
  std::optional<Listing> listing_;
  bool announce_ = true;  // a bookmark is due: says that what exists is all sent, and where it is
};

}  // namespace croft::control::domain
