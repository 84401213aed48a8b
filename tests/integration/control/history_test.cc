// Changes, what became of a resource, and undoing, on a real control and PostgreSQL.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "croft/v1/change.pb.h"
#include "croft/v1/farm.pb.h"
#include "croft/v1/operator.pb.h"
#include "croft/v1/organization.pb.h"
#include "croft/v1/pool.pb.h"
#include "croft/v1/resource.grpc.pb.h"
#include "croft/v1/site.pb.h"
#include "croft/v1/store.pb.h"
#include "tests/integration/control/running_control.h"

namespace croft::tests {
namespace {

using grpc::StatusCode;

class ControlHistory : public testing::Test {
 protected:
  void SetUp() override {
    id_ = "h" + NewFarmId();
    farm_ = "farms/" + id_;
    Do<v1::CreateFarmRequest, v1::Farm>("FarmService/CreateFarm", "farm_id: '" + id_ + "'");
    Do<v1::CreateStoreRequest, v1::FileStore>(
        "StoreService/CreateStore", Parent() + "store_id: 'files' store { path: '/srv/" + id_ +
                                        "' homes { fan_out: 20 homes_per_leaf: 100 } }");
  }

  std::string Parent() const { return "parent: '" + farm_ + "' "; }
  std::string Site(const std::string& id) const { return farm_ + "/sites/" + id; }

  template <typename Request, typename Response>
  Response Do(const std::string& method, const std::string& text) {
    Response response;
    const grpc::Status status = client_.Call<Request>("croft.v1." + method, text, response);
    EXPECT_TRUE(status.ok()) << method << " " << text << ": " << status.error_message();
    return response;
  }
  v1::Site AddSite(const std::string& id) {
    return Do<v1::CreateSiteRequest, v1::Site>(
        "SiteService/CreateSite",
        Parent() + fmt::format("site_id: '{}' site {{ bindings {{ host: '{}.{}.example' }} }}", id,
                               id, id_));
  }
  v1::Site UpdateSite(const std::string& text) {
    return Do<v1::UpdateSiteRequest, v1::Site>("SiteService/UpdateSite", text);
  }
  grpc::Status TryUndo(std::int64_t revision, const std::string& more,
                       v1::UndoChangeResponse& response) {
    return client_.Call<v1::UndoChangeRequest>("croft.v1.ChangeService/UndoChange",
                                               fmt::format("revision: {} {}", revision, more),
                                               response);
  }
  v1::UndoChangeResponse Undo(std::int64_t revision, const std::string& more = "") {
    v1::UndoChangeResponse response;
    const grpc::Status status = TryUndo(revision, more, response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }
  std::string RefusedUndo(std::int64_t revision, const std::string& more = "") {
    v1::UndoChangeResponse response;
    const grpc::Status status = TryUndo(revision, more, response);
    EXPECT_FALSE(status.ok());
    return DetailOf(status).reason();
  }
  v1::ListHistoryResponse History(const std::string& name, int page_size = 0) {
    return Do<v1::ListHistoryRequest, v1::ListHistoryResponse>(
        "ChangeService/ListHistory", fmt::format("name: '{}' page_size: {}", name, page_size));
  }
  grpc::Status GetSite(const std::string& name, v1::Site& site) {
    return client_.Call<v1::GetSiteRequest>("croft.v1.SiteService/GetSite", "name: '" + name + "'",
                                            site);
  }

  RunningControl& control_ = RunningControl::Shared();
  const Client client_{control_.Connect(), control_.token()};
  std::string id_;
  std::string farm_;
};

TEST_F(ControlHistory, TellsWhoDidWhatAndWhy) {
  const std::string name = Site("shop");
  AddSite("shop");
  UpdateSite("site { name: '" + name + "' state: STOPPED } request_id: '" + id_ +
             "-r1' reason: 'not paid'");
  Do<v1::DeleteSiteRequest, v1::Site>("SiteService/DeleteSite", "name: '" + name + "'");
  Do<v1::UndeleteSiteRequest, v1::Site>("SiteService/UndeleteSite", "name: '" + name + "'");
  const auto history = History(name);
  ASSERT_EQ(history.entries_size(), 4);
  EXPECT_EQ(history.entries(0).action(), "undelete");
  EXPECT_EQ(history.entries(1).action(), "delete");
  EXPECT_FALSE(history.entries(1).has_resource());
  const v1::HistoryEntry& update = history.entries(2);
  EXPECT_EQ(update.action(), "update");
  EXPECT_EQ(update.change().who(), "administrator");
  EXPECT_EQ(update.change().reason(), "not paid");
  EXPECT_EQ(update.change().request_id(), id_ + "-r1");
  EXPECT_EQ(update.resource().site().state(), v1::STOPPED);
  EXPECT_EQ(update.resource().site().revision(), update.change().revision());
  ASSERT_EQ(update.changes_size(), 1);
  EXPECT_EQ(update.changes(0).path(), "state");
  EXPECT_EQ(update.changes(0).before(), "STARTED");
  EXPECT_EQ(update.changes(0).after(), "STOPPED");
  EXPECT_EQ(history.entries(3).action(), "create");
  // In pages, the same.
  v1::ListHistoryRequest request;
  request.set_name(name);
  request.set_page_size(3);
  v1::ListHistoryResponse page;
  ASSERT_TRUE(client_.Call("croft.v1.ChangeService/ListHistory", request, page).ok());
  request.set_page_token(page.next_page_token());
  v1::ListHistoryResponse rest;
  ASSERT_TRUE(client_.Call("croft.v1.ChangeService/ListHistory", request, rest).ok());
  page.MergeFrom(rest);
  EXPECT_EQ(page.entries_size(), 4);
  EXPECT_EQ(page.entries(3).ShortDebugString(), history.entries(3).ShortDebugString());
}

TEST_F(ControlHistory, ListsChangesByWhoAndSince) {
  const v1::Site site = AddSite("shop");
  v1::ListChangesRequest request;
  request.set_resource(site.name());
  request.set_who("operators/administrator");
  *request.mutable_since() = site.create_time();
  v1::ListChangesResponse response;
  ASSERT_TRUE(client_.Call("croft.v1.ChangeService/ListChanges", request, response).ok());
  ASSERT_EQ(response.changes_size(), 1);
  EXPECT_EQ(response.changes(0).revision(), site.revision());
  EXPECT_EQ(response.changes(0).total(), 1);
  request.set_who("nobody");
  ASSERT_TRUE(client_.Call("croft.v1.ChangeService/ListChanges", request, response).ok());
  EXPECT_EQ(response.changes_size(), 0);
  request.clear_who();
  request.mutable_since()->set_seconds(site.create_time().seconds() + 3600);
  ASSERT_TRUE(client_.Call("croft.v1.ChangeService/ListChanges", request, response).ok());
  EXPECT_EQ(response.changes_size(), 0);
}

TEST_F(ControlHistory, UndoesCreationUpdateAndDeletion) {
  const std::string name = Site("shop");
  const std::int64_t created = AddSite("shop").revision();
  const std::int64_t updated =
      UpdateSite("site { name: '" + name + "' state: STOPPED }").revision();
  EXPECT_EQ(RefusedUndo(created), "CHANGED_SINCE");
  v1::UndoChangeResponse undone = Undo(updated, "reason: 'by mistake'");
  ASSERT_EQ(undone.results_size(), 1);
  EXPECT_EQ(undone.results(0).name(), name);
  EXPECT_EQ(undone.results(0).action(), "update");
  ASSERT_EQ(undone.results(0).changes_size(), 1);
  EXPECT_EQ(undone.results(0).changes(0).after(), "STARTED");
  v1::Site site;
  ASSERT_TRUE(GetSite(name, site).ok());
  EXPECT_EQ(site.state(), v1::STARTED);
  EXPECT_EQ(site.revision(), undone.revision());

  Do<v1::DeleteSiteRequest, v1::Site>("SiteService/DeleteSite", "name: '" + name + "'");
  undone = Undo(History(name, 1).entries(0).change().revision());
  EXPECT_EQ(undone.results(0).action(), "undelete");
  EXPECT_EQ(undone.counts().created(), 1);
  ASSERT_TRUE(GetSite(name, site).ok());
  EXPECT_EQ(site.bindings(0).host(), "shop." + id_ + ".example");
  // The whole life at once: what was created is gone.
  undone = Undo(created, "force: true");
  EXPECT_EQ(undone.counts().deleted(), 1);
  EXPECT_EQ(GetSite(name, site).error_code(), StatusCode::NOT_FOUND);
  EXPECT_EQ(History(name, 1).entries(0).action(), "delete");
}

TEST_F(ControlHistory, ARefusedUndoNamesTheLaterChangeAndDoesNothing) {
  const std::string name = Site("shop");
  AddSite("shop");
  const std::int64_t first = UpdateSite("site { name: '" + name + "' state: STOPPED }").revision();
  const std::int64_t later =
      UpdateSite("site { name: '" + name + "' labels { key: 'tier' value: 'web' } }").revision();
  v1::UndoChangeResponse response;
  const grpc::Status refused = TryUndo(first, "", response);
  EXPECT_EQ(refused.error_code(), StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(DetailOf(refused).resource(), name);
  EXPECT_NE(refused.error_message().find(std::to_string(later)), std::string::npos)
      << refused.error_message();
  EXPECT_EQ(History(name).entries_size(), 3);
  Undo(first, "force: true validate_only: true");
  EXPECT_EQ(History(name).entries_size(), 3);
  Undo(first, "force: true request_id: '" + id_ + "-undo'");
  Undo(first, "force: true request_id: '" + id_ + "-undo'");
  const auto history = History(name);
  EXPECT_EQ(history.entries_size(), 4);
  EXPECT_EQ(history.entries(0).resource().site().state(), v1::STARTED);
  EXPECT_TRUE(history.entries(0).resource().site().labels().empty());
}

TEST_F(ControlHistory, UndoesAnImportWithItsCount) {
  constexpr int kAccounts = 1200;
  grpc::ClientContext context;
  client_.Authorize(context);
  const auto stub = v1::ResourceService::NewStub(client_.channel());
  const auto stream = stub->ImportResources(&context);
  v1::ImportResourcesRequest batch;
  for (int i = 0; i < kAccounts; ++i) {
    batch.add_rows()->mutable_resource()->mutable_account()->set_name(
        fmt::format("{}/accounts/user{}", farm_, i));
  }
  ASSERT_TRUE(stream->Write(batch));
  v1::ImportResourcesResponse imported;
  ASSERT_TRUE(stream->Read(&imported));
  stream->WritesDone();
  ASSERT_TRUE(stream->Finish().ok());
  const std::int64_t revision = imported.revision();

  const auto change = Do<v1::GetChangeRequest, v1::GetChangeResponse>(
      "ChangeService/GetChange", fmt::format("revision: {} page_size: 1000", revision));
  EXPECT_EQ(change.change().total(), kAccounts);
  EXPECT_EQ(change.change().resources_size(), 1000);
  EXPECT_NE(change.next_page_token(), "");
  const auto listed = Do<v1::ListChangesRequest, v1::ListChangesResponse>(
      "ChangeService/ListChanges", "page_size: 1");
  EXPECT_EQ(listed.changes(0).total(), kAccounts);
  EXPECT_EQ(listed.changes(0).resources_size(), 100);

  EXPECT_EQ(RefusedUndo(revision), "COUNT_REQUIRED");
  EXPECT_EQ(RefusedUndo(revision, "expect_count: 5"), "COUNT_MISMATCH");
  v1::UndoChangeResponse undone = Undo(revision, fmt::format("expect_count: {}", kAccounts));
  EXPECT_EQ(undone.counts().deleted(), kAccounts);
  EXPECT_EQ(undone.results_size(), kAccounts);
  undone = Undo(undone.revision(), "resource: '" + farm_ + "/accounts/user7'");
  EXPECT_EQ(undone.counts().created(), 1);
}

TEST_F(ControlHistory, AStrangerFindsNoneOfIt) {
  const v1::Site site = AddSite("shop");
  const std::string id = id_ + "-stranger";
  Do<v1::CreateOperatorRequest, v1::Operator>("OperatorService/CreateOperator",
                                              "operator_id: '" + id + "' operator {}");
  const auto token = Do<v1::CreateTokenRequest, v1::Token>(
      "TokenService/CreateToken",
      "token_id: '" + id + "' token { operator: 'operators/" + id + "' lifetime: 600000 }");
  const Client stranger(control_.Connect(), token.secret());
  v1::GetChangeResponse change;
  EXPECT_EQ(stranger
                .Call<v1::GetChangeRequest>("croft.v1.ChangeService/GetChange",
                                            fmt::format("revision: {}", site.revision()), change)
                .error_code(),
            StatusCode::NOT_FOUND);
  v1::ListHistoryResponse history;
  EXPECT_EQ(stranger
                .Call<v1::ListHistoryRequest>("croft.v1.ChangeService/ListHistory",
                                              "name: '" + site.name() + "'", history)
                .error_code(),
            StatusCode::NOT_FOUND);
  v1::UndoChangeResponse undone;
  EXPECT_EQ(stranger
                .Call<v1::UndoChangeRequest>("croft.v1.ChangeService/UndoChange",
                                             fmt::format("revision: {}", site.revision()), undone)
                .error_code(),
            StatusCode::NOT_FOUND);
}

}  // namespace
}  // namespace croft::tests
