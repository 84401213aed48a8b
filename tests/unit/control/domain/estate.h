// A farm with a pool and a store, made through the use cases, on a fake store.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "control/domain/resources.h"
#include "croft/v1/account.pb.h"
#include "croft/v1/farm.pb.h"
#include "croft/v1/organization.pb.h"
#include "croft/v1/pool.pb.h"
#include "croft/v1/site.pb.h"
#include "croft/v1/store.pb.h"
#include "proto/contract/errors.h"
#include "tests/unit/control/store/fake_store.h"

namespace croft::control::domain {

inline std::string ReasonOf(const absl::Status& status) {
  const auto detail = contract::FindDetail(status);
  return detail.has_value() ? detail->reason() : "";
}

// Has farms/main with pools/web and stores/files (room for 40 homes).
class DomainTest : public testing::Test {
 protected:
  DomainTest() {
    EXPECT_TRUE(resources_.CreateFirstResources().ok());
    Create("", "main", v1::Farm());
    Create("farms/main", "web", v1::ApplicationPool());
    v1::FileStore files;
    files.set_path("/srv/files");
    files.mutable_homes()->add_fan_out(2);
    files.mutable_homes()->add_fan_out(2);
    files.mutable_homes()->set_homes_per_leaf(10);
    Create("farms/main", "files", files);
  }

  template <typename T>
  static absl::StatusOr<T> As(absl::StatusOr<MessagePtr> message) {
    if (!message.ok()) {
      return message.status();
    }
    return static_cast<const T&>(**message);
  }
  template <typename T>
  static absl::StatusOr<T> As(absl::StatusOr<Written> written) {
    if (!written.ok()) {
      return written.status();
    }
    return static_cast<const T&>(*written->answer);
  }
  absl::StatusOr<Page> List(contract::ResourceType type, std::string_view parent, int page_size,
                            std::string_view page_token) {
    return resources_.List(caller_, {.type = type,
                                     .parent = std::string(parent),
                                     .page_size = page_size,
                                     .page_token = std::string(page_token)});
  }
  template <typename T>
  absl::StatusOr<T> TryCreate(std::string_view parent, std::string_view id, const T& resource,
                              const WriteOptions& options = {}) {
    return As<T>(resources_.Create(caller_, parent, id, resource, options));
  }
  template <typename T>
  T Create(std::string_view parent, std::string_view id, const T& resource) {
    auto created = TryCreate(parent, id, resource);
    EXPECT_TRUE(created.ok()) << created.status();
    return created.value_or(T());
  }
  template <typename T>
  absl::StatusOr<T> TryUpdate(const T& resource, std::initializer_list<const char*> paths = {},
                              const WriteOptions& options = {}) {
    google::protobuf::FieldMask mask;
    for (const char* path : paths) {
      mask.add_paths(path);
    }
    return As<T>(resources_.Update(caller_, resource, mask, options));
  }
  template <typename T>
  absl::StatusOr<T> Get(std::string_view name) {
    return As<T>(resources_.Get(caller_, contract::TypeOf(T()), name));
  }
  absl::Status Delete(contract::ResourceType type, std::string_view name,
                      std::string_view etag = "") {
    return resources_.Delete(caller_, type, name, etag, {}).status();
  }
  std::int64_t Revision() { return store_.GetHead()->position.revision(); }

  static v1::Site ASite(const std::string& host) {
    v1::Site site;
    site.add_bindings()->set_host(host);
    v1::Application& application = *site.add_applications();
    application.set_path("/");
    application.set_pool("farms/main/pools/web");
    application.mutable_root()->set_store("farms/main/stores/files");
    application.mutable_root()->set_path("www");
    return site;
  }

  store::FakeStore store_;
  Resources resources_{store_};
  Caller caller_ = SystemCaller("tester");
};

}  // namespace croft::control::domain
