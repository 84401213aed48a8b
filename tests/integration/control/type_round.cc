#include "tests/integration/control/type_round.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace croft::tests {

using grpc::StatusCode;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string ReplaceAll(std::string text, const std::string& what, const std::string& with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size()) {
    text.replace(at, what.size(), with);
  }
  return text;
}

void CheckCreate(const TypeRound& round) {
  const Reply tried = round.Do("Create", round.CreateText("a", "validate_only: true"));
  ASSERT_TRUE(tried.ok()) << tried.status.error_message();
  EXPECT_EQ(tried.counts, "created=1");
  EXPECT_EQ(tried.Field("name"), round.name("a"));
  EXPECT_EQ(round.Do("Get", "name: '" + round.name("a") + "'").code(), StatusCode::NOT_FOUND);

  const std::string request =
      round.CreateText("a", "request_id: 'create-" + round.tag() + "' reason: 'contract'");
  const Reply created = round.Do("Create", request);
  ASSERT_TRUE(created.ok()) << created.status.error_message();
  EXPECT_EQ(created.counts, "created=1");
  const Reply repeated = round.Do("Create", request);
  ASSERT_TRUE(repeated.ok()) << repeated.status.error_message();
  EXPECT_EQ(repeated.counts, "created=1");
  EXPECT_EQ(repeated.Field("uid"), created.Field("uid"));
  EXPECT_EQ(repeated.Field("revision"), created.Field("revision"));
  const Reply reused =
      round.Do("Create", round.CreateText("b", "request_id: 'create-" + round.tag() + "'"));
  EXPECT_EQ(reused.code(), StatusCode::ALREADY_EXISTS);
  EXPECT_EQ(reused.detail().reason(), "REQUEST_ID_REUSED");

  const Reply taken = round.Do("Create", round.CreateText("a"));
  EXPECT_EQ(taken.code(), StatusCode::ALREADY_EXISTS);
  EXPECT_EQ(taken.detail().reason(), "NAME_TAKEN");
  const Reply existing = round.Do("Create", round.CreateText("a", "if_absent: true"));
  ASSERT_TRUE(existing.ok()) << existing.status.error_message();
  EXPECT_EQ(existing.counts, "unchanged=1");
  EXPECT_EQ(existing.Field("uid"), created.Field("uid"));
  ASSERT_TRUE(round.Do("Create", round.CreateText("c")).ok());
  ASSERT_TRUE(round.Do("Create", round.CreateText("b", "if_absent: true")).ok());
}

void CheckRead(const TypeRound& round) {
  const std::string name = "name: '" + round.name("a") + "' ";
  const Reply whole = round.Do("Get", name);
  ASSERT_TRUE(whole.ok()) << whole.status.error_message();
  EXPECT_THAT(whole.Field("labels"), HasSubstr(round.tag()));
  const Reply masked = round.Do("Get", name + "read_mask { paths: 'create_time' }");
  ASSERT_TRUE(masked.ok()) << masked.status.error_message();
  for (const char* kept : {"name", "uid", "etag", "create_time"}) {
    EXPECT_EQ(masked.Field(kept), whole.Field(kept)) << kept;
  }
  EXPECT_EQ(masked.Field("labels"), "");
  const Reply unknown = round.Do("Get", name + "read_mask { paths: 'creat_time' }");
  EXPECT_EQ(unknown.code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(unknown.status.error_message(), HasSubstr("\"create_time\""));
}

void CheckList(const TypeRound& round) {
  const std::string ours = "labels.round = " + round.tag();
  const Reply all = round.Do("List", round.ListText(ours));
  ASSERT_TRUE(all.ok()) << all.status.error_message();
  EXPECT_THAT(all.Names(), ElementsAre(round.name("a"), round.name("b"), round.name("c")));
  EXPECT_THAT(round.Do("List", round.ListText(ours + " AND name = " + round.id("b"))).Names(),
              ElementsAre(round.name("b")));
  EXPECT_THAT(round.Do("List", round.ListText(ours, "order_by: 'name desc'")).Names(),
              ElementsAre(round.name("c"), round.name("b"), round.name("a")));
  EXPECT_THAT(round.Do("List", round.ListText(ours, "order_by: 'create_time'")).Names(),
              ElementsAre(round.name("a"), round.name("c"), round.name("b")));
  const Reply masked =
      round.Do("List", round.ListText(ours, "read_mask { paths: 'name' } page_size: 1"));
  ASSERT_TRUE(masked.ok());
  EXPECT_THAT(masked.message->ShortDebugString(), Not(HasSubstr("labels")));

  std::vector<std::string> paged;
  std::string token;
  do {
    const Reply page =
        round.Do("List", round.ListText(ours, "page_size: 2 page_token: '" + token + "'"));
    ASSERT_TRUE(page.ok()) << page.status.error_message();
    const auto names = page.Names();
    paged.insert(paged.end(), names.begin(), names.end());
    token = page.Field("next_page_token");
  } while (!token.empty());
  EXPECT_THAT(paged, ElementsAre(round.name("a"), round.name("b"), round.name("c")));

  const Reply unindexed = round.Do("List", round.ListText("etag = x"));
  EXPECT_EQ(unindexed.code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(unindexed.detail().violations(0).field(), "filter");
  EXPECT_EQ(round.Do("List", round.ListText(ours, "order_by: 'etag'")).code(),
            StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(round.Do("List", round.ListText(ours, "page_token: 'x'")).code(),
            StatusCode::INVALID_ARGUMENT);
}

void CheckUpdate(const TypeRound& round, const std::string& name) {
  const std::string mask = "update_mask { paths: '" + round.example().path + "' } ";
  const std::string& change = round.example().change;
  const Reply before = round.Do("Get", "name: '" + name + "'");
  ASSERT_TRUE(before.ok()) << before.status.error_message();
  const Reply tried =
      round.Do("Update", round.UpdateText(name, change, mask + "validate_only: true"));
  ASSERT_TRUE(tried.ok()) << tried.status.error_message();
  EXPECT_EQ(tried.counts, "updated=1");
  EXPECT_EQ(round.Do("Get", "name: '" + name + "'").Field("etag"), before.Field("etag"));

  const Reply stale = round.Do("Update", round.UpdateText(name, change + " etag: 'stale'", mask));
  EXPECT_EQ(stale.code(), StatusCode::ABORTED);
  EXPECT_EQ(stale.detail().reason(), "ETAG_MISMATCH");
  const std::string request =
      round.UpdateText(name, change + " etag: '" + before.Field("etag") + "'",
                       mask + "request_id: 'update-" + round.tag() + "'");
  const Reply updated = round.Do("Update", request);
  ASSERT_TRUE(updated.ok()) << updated.status.error_message();
  EXPECT_EQ(updated.counts, "updated=1");
  EXPECT_NE(updated.Field("etag"), before.Field("etag"));
  EXPECT_EQ(updated.Field("uid"), before.Field("uid"));
  const Reply repeated = round.Do("Update", request);  // its etag is stale by now
  ASSERT_TRUE(repeated.ok()) << repeated.status.error_message();
  EXPECT_EQ(repeated.Field("etag"), updated.Field("etag"));
  EXPECT_EQ(round.Do("Update", round.UpdateText(name, change, mask)).counts, "unchanged=1");
  EXPECT_EQ(
      round.Do("Update", round.UpdateText(name, "", "update_mask { paths: 'nonsense' }")).code(),
      StatusCode::INVALID_ARGUMENT);
}

void CheckDelete(const TypeRound& round, bool can_undelete) {
  const std::string name = "name: '" + round.name("a") + "' ";
  const std::string uid = round.Do("Get", name).Field("uid");
  EXPECT_EQ(round.Do("Delete", name + "validate_only: true").counts, "deleted=1");
  EXPECT_EQ(round.Do("Delete", name + "etag: 'stale'").code(), StatusCode::ABORTED);
  const Reply deleted = round.Do("Delete", name);
  ASSERT_TRUE(deleted.ok()) << deleted.status.error_message();
  EXPECT_EQ(deleted.counts, "deleted=1");
  EXPECT_NE(deleted.Field("delete_time"), "");
  EXPECT_EQ(round.Do("Delete", name).code(), StatusCode::NOT_FOUND);
  const Reply missing = round.Do("Delete", name + "allow_missing: true");
  ASSERT_TRUE(missing.ok()) << missing.status.error_message();
  EXPECT_EQ(missing.counts, "unchanged=1");

  EXPECT_EQ(round.Do("Get", name).code(), StatusCode::NOT_FOUND);
  const Reply shown = round.Do("Get", name + "show_deleted: true");
  ASSERT_TRUE(shown.ok()) << shown.status.error_message();
  EXPECT_NE(shown.Field("purge_time"), "");
  const std::string ours = "labels.round = " + round.tag();
  EXPECT_THAT(round.Do("List", round.ListText(ours)).Names(), Not(Contains(round.name("a"))));
  EXPECT_THAT(round.Do("List", round.ListText(ours, "show_deleted: true")).Names(),
              Contains(round.name("a")));
  if (!can_undelete) {
    return;
  }
  EXPECT_EQ(round.Do("Undelete", name + "validate_only: true").counts, "created=1");
  EXPECT_EQ(round.Do("Get", name).code(), StatusCode::NOT_FOUND);
  const Reply back = round.Do("Undelete", name);
  ASSERT_TRUE(back.ok()) << back.status.error_message();
  EXPECT_EQ(back.counts, "created=1");
  EXPECT_EQ(back.Field("uid"), uid);
  EXPECT_EQ(round.Do("Undelete", name).code(), StatusCode::ALREADY_EXISTS);
  ASSERT_TRUE(round.Do("Delete", name).ok());
  ASSERT_TRUE(round.Do("Create", round.CreateText("a")).ok());
  const Reply taken = round.Do("Undelete", name + "uid: " + uid);
  EXPECT_EQ(taken.code(), StatusCode::ALREADY_EXISTS);
  EXPECT_EQ(taken.detail().reason(), "NAME_TAKEN");
}

}  // namespace croft::tests
