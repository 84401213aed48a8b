// A watch of resources, page by page.
#include "control/domain/watch.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "control/domain/resource_message.h"
#include "proto/contract/any_resource.h"
#include "tests/unit/control/domain/estate.h"

namespace croft::control::domain {
namespace {

using contract::ResourceType;
using testing::ElementsAre;
using testing::IsEmpty;
using Event = v1::WatchResourcesResponse;

class WatchTest : public DomainTest {
 protected:
  absl::StatusOr<std::unique_ptr<ResourceWatch>> Open(const v1::WatchResourcesRequest& request) {
    return ResourceWatch::Open(store_, resources_.access(), caller_, request);
  }
  std::unique_ptr<ResourceWatch> Watch(const std::string& type, const std::string& filter = "",
                                       bool send_existing = false, const std::string& token = "") {
    v1::WatchResourcesRequest request;
    request.set_type(type);
    request.set_filter(filter);
    request.set_send_existing(send_existing);
    request.set_resume_token(token);
    auto watch = Open(request);
    EXPECT_TRUE(watch.ok()) << watch.status();
    return *std::move(watch);
  }
  // Everything until there is no more; the token of the last event is kept.
  std::vector<std::string> Read(ResourceWatch& watch, const Caller& caller) {
    std::vector<std::string> lines;
    for (bool more = true; more;) {
      const auto page = watch.Next(caller);
      EXPECT_TRUE(page.ok()) << page.status();
      if (!page.ok()) {
        return lines;
      }
      more = page->more;
      for (const Event& event : page->events) {
        token_ = event.resume_token();
        tokens_.push_back(token_);
        lines.push_back(Describe(event));
      }
    }
    return lines;
  }
  std::vector<std::string> Read(ResourceWatch& watch) { return Read(watch, caller_); }

  // "+shop STARTED"
  static std::string Describe(const Event& event) {
    if (event.kind() == Event::BOOKMARK) {
      return "=";
    }
    const auto& resource = *contract::Unwrap(event.resource());
    const std::string name = GetText(resource, "name");
    const std::string kind = event.kind() == Event::CREATED   ? "+"
                             : event.kind() == Event::UPDATED ? "*"
                                                              : "-";
    const v1::DesiredState state = event.resource().site().state();
    return kind + name.substr(name.rfind('/') + 1) +
           (state == v1::DESIRED_STATE_UNSPECIFIED ? "" : " " + v1::DesiredState_Name(state));
  }
  void SetState(const std::string& id, v1::DesiredState state) {
    v1::Site site;
    site.set_name("farms/main/sites/" + id);
    site.set_state(state);
    EXPECT_TRUE(TryUpdate(site).ok());
  }
  void AddSite(const std::string& id) { Create("farms/main", id, ASite(id + ".example")); }
  void DeleteSite(const std::string& id) {
    EXPECT_TRUE(Delete(ResourceType::kSite, "farms/main/sites/" + id).ok());
  }

  std::string token_;
  std::vector<std::string> tokens_;
};

TEST_F(WatchTest, SendsEveryChangeOnceAsItLeftTheResource) {
  AddSite("old");
  const auto watch = Watch("site");
  EXPECT_THAT(Read(*watch), ElementsAre("="));
  EXPECT_THAT(Read(*watch), IsEmpty());
  AddSite("shop");
  SetState("shop", v1::STOPPED);
  SetState("shop", v1::STARTED);
  DeleteSite("old");
  Create("farms/main", "other", v1::ApplicationPool());
  ASSERT_TRUE(
      resources_.Undelete(caller_, ResourceType::kSite, "farms/main/sites/old", 0, {}).ok());
  EXPECT_THAT(Read(*watch), ElementsAre("+shop STARTED", "*shop STOPPED", "*shop STARTED", "-old",
                                        "+old STARTED"));
  EXPECT_THAT(Read(*watch), IsEmpty());
}

TEST_F(WatchTest, GoesOnAfterAnyTokenWithNothingMissedOrRepeated) {
  const auto watch = Watch("site");
  Read(*watch);
  std::vector<std::string> all;
  for (int i = 0; i < 5; ++i) {
    AddSite(fmt::format("s{}", i));
    SetState(fmt::format("s{}", i), v1::STOPPED);
  }
  tokens_.clear();
  all = Read(*watch);
  ASSERT_EQ(all.size(), 10U);
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::vector<std::string> rest(all.begin() + static_cast<std::ptrdiff_t>(i) + 1, all.end());
    rest.emplace_back("=");
    const std::string token = tokens_[i];
    EXPECT_EQ(Read(*Watch("site", "", false, token)), rest) << i;
  }
}

TEST_F(WatchTest, FilterDecidesWhatComesAndGoes) {
  AddSite("a");
  const auto watch = Watch("site", "state = STOPPED");
  Read(*watch);
  AddSite("b");
  SetState("b", v1::STOPPED);
  v1::Site labeled;
  labeled.set_name("farms/main/sites/b");
  (*labeled.mutable_labels())["x"] = "y";
  ASSERT_TRUE(TryUpdate(labeled, {"labels.x"}).ok());
  SetState("b", v1::STARTED);
  SetState("a", v1::STOPPED);
  DeleteSite("a");
  DeleteSite("b");
  EXPECT_THAT(Read(*watch), ElementsAre("+b STOPPED", "*b STOPPED", "-b", "+a STOPPED", "-a"));
}

TEST_F(WatchTest, SendsWhatExistsFirst) {
  for (int i = 0; i < 600; ++i) {
    v1::Site site;
    site.add_bindings()->set_host(fmt::format("s{}.example", i));
    Create("farms/main", fmt::format("s{}", i), site);
  }
  const auto watch = Watch("site", "", true);
  std::set<std::string> seen;
  auto page = watch->Next(caller_);
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_TRUE(page->more);
  const std::string middle = page->events.back().resume_token();
  const std::size_t first = page->events.size();
  ASSERT_LT(first, 600U);
  // Changes under way: they come as changes, after what was there when the watch began.
  AddSite("s9999");
  SetState("s99", v1::STOPPED);
  std::vector<std::string> rest = Read(*watch);
  EXPECT_EQ(rest.size(), 600 - first + 3);
  EXPECT_EQ(std::ranges::count(rest, "+s99 STARTED"), 1);
  EXPECT_EQ(std::ranges::count(rest, "*s99 STOPPED"), 1);
  EXPECT_EQ(std::ranges::count(rest, "+s9999 STARTED"), 1);
  EXPECT_EQ(rest.back(), "=");
  // The list is gone on with, too.
  EXPECT_EQ(Read(*Watch("site", "", true, middle)), rest);
}

TEST_F(WatchTest, KeepsToItsFarmAndType) {
  Create("", "second", v1::Farm());
  v1::WatchResourcesRequest request;
  request.set_parent("farms/second");
  const auto of_farm = *Open(request);
  Read(*of_farm);
  const auto of_all = Watch("");
  Read(*of_all);
  Create("farms/second", "p", v1::ApplicationPool());
  Create("farms/main", "q", v1::ApplicationPool());
  Create("", "acme", v1::Organization());
  EXPECT_THAT(Read(*of_farm), ElementsAre("+p"));
  EXPECT_THAT(Read(*of_all), ElementsAre("+p", "+q", "+acme"));
}

TEST_F(WatchTest, ShowsACallerOnlyWhatItMaySee) {
  Create("", "acme", v1::Organization());
  Caller viewer;
  viewer.grants.push_back({.role = v1::VIEWER});
  viewer.grants.back().organization_uid = store_.Find("organizations/acme").value()->uid;
  const auto watch = Watch("site");
  Read(*watch, viewer);
  AddSite("ours");
  v1::Site theirs;
  theirs.set_organization("organizations/acme");
  Create("farms/main", "theirs", theirs);
  DeleteSite("ours");
  DeleteSite("theirs");
  EXPECT_THAT(Read(*watch, viewer), ElementsAre("+theirs STARTED", "-theirs"));
}

TEST_F(WatchTest, RefusesWhatItCannotGoOnFrom) {
  const auto saved = store_.Save();
  const auto watch = Watch("site");
  AddSite("a");
  Read(*watch);
  const auto reason = [&](const char* type, const std::string& token) {
    v1::WatchResourcesRequest request;
    request.set_type(type);
    request.set_resume_token(token);
    const auto status = Open(request).status();
    return fmt::format("{} {}", static_cast<int>(status.code()), ReasonOf(status));
  };
  const std::string good = token_;
  EXPECT_EQ(reason("site", good), "0 ");
  EXPECT_EQ(reason("pool", good), "3 FIELD_INVALID");
  EXPECT_EQ(reason("site", "nonsense"), "3 FIELD_INVALID");
  EXPECT_EQ(reason("ghost", ""), "3 FIELD_INVALID");
  store_.Restore(saved);
  EXPECT_EQ(reason("site", good), "9 WATCH_EXPIRED");
  AddSite("b");
  EXPECT_EQ(reason("site", good), "9 WATCH_EXPIRED");  // the same revision of another history
  store_.StartNewEpoch();
  EXPECT_EQ(reason("site", good), "9 WATCH_EXPIRED");
  v1::WatchResourcesRequest request;
  request.set_filter("state = STOPPED");
  EXPECT_EQ(Open(request).status().code(), absl::StatusCode::kInvalidArgument);
  request.Clear();
  request.set_parent("farms/none");
  EXPECT_TRUE(absl::IsNotFound(Open(request).status()));
}

}  // namespace
}  // namespace croft::control::domain
