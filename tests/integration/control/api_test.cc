// The public API of a real control over TLS.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "croft/v1/change.pb.h"
#include "croft/v1/farm.pb.h"
#include "croft/v1/node.pb.h"
#include "croft/v1/organization.pb.h"
#include "croft/v1/pool.pb.h"
#include "croft/v1/report.pb.h"
#include "croft/v1/resource.grpc.pb.h"
#include "croft/v1/site.pb.h"
#include "croft/v1/store.pb.h"
#include "tests/integration/control/running_control.h"

namespace croft::tests {
namespace {

using google::protobuf::Message;
using grpc::StatusCode;

class ControlApi : public testing::Test {
 protected:
  void SetUp() override {
    client_ = std::make_unique<Client>(control_.Connect(), control_.token());
    farm_id_ = NewFarmId();
    farm_ = "farms/" + farm_id_;
    v1::Farm created;
    const grpc::Status status = client_->Call<v1::CreateFarmRequest>(
        "croft.v1.FarmService/CreateFarm", "farm_id: '" + farm_id_ + "'", created);
    ASSERT_TRUE(status.ok()) << status.error_message();
  }

  grpc::Status CreateSite(const std::string& id, const std::string& host, v1::Site& site,
                          const std::string& more = {}) {
    return client_->Call<v1::CreateSiteRequest>("croft.v1.SiteService/CreateSite",
                                                "parent: '" + farm_ + "' site_id: '" + id +
                                                    "' site { bindings { host: '" + host +
                                                    "' } } " + more,
                                                site);
  }

  RunningControl& control_ = RunningControl::Shared();
  std::unique_ptr<Client> client_;
  std::string farm_id_;
  std::string farm_;
};

// What one type needs for its round.
struct TypeCase {
  std::string service;  // "Site"
  std::string noun;     // "site"
  std::string plural;   // "Sites"
  std::string parent;
  std::string id;
  std::string resource;  // text of the resource at creation
  std::string mask;
  std::string update;  // text of the masked field
};

std::unique_ptr<Message> Make(const std::string& type, const std::string& text) {
  // Named once, so that their files are linked and in the pool.
  static const google::protobuf::Descriptor* const used[] = {v1::Organization::descriptor(),
                                                             v1::Node::descriptor()};
  EXPECT_NE(used[0], used[1]);
  const auto* descriptor =
      google::protobuf::DescriptorPool::generated_pool()->FindMessageTypeByName("croft.v1." + type);
  std::unique_ptr<Message> made(
      google::protobuf::MessageFactory::generated_factory()->GetPrototype(descriptor)->New());
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, made.get()))
      << type << " " << text;
  return made;
}

std::string MessageOf(const std::string& service) {
  return service == "Pool" ? "ApplicationPool" : service == "Store" ? "FileStore" : service;
}

std::string NameOf(const Message& resource) {
  return resource.GetReflection()->GetString(resource,
                                             resource.GetDescriptor()->FindFieldByName("name"));
}

TEST_F(ControlApi, EveryTypeIsCreatedReadListedUpdatedAndDeleted) {
  const TypeCase cases[] = {
      {"Organization", "organization", "Organizations", "", farm_id_ + "-org", "display_name: 'A'",
       "display_name", "display_name: 'B'"},
      {"Farm", "farm", "Farms", "", farm_id_ + "-two", "", "settings.log.enabled",
       "settings { log { enabled: false } }"},
      {"Node", "node", "Nodes", farm_, "web1", "", "draining", "draining: true"},
      {"Store", "store", "Stores", farm_, "home", "path: '/srv/home'", "homes",
       "homes { fan_out: 10 }"},
      {"Pool", "pool", "Pools", farm_, "web", "", "state", "state: STOPPED"},
      {"Site", "site", "Sites", farm_, "shop", "bindings { host: 'shop.example' }", "state",
       "state: STOPPED"},
      {"Account", "account", "Accounts", farm_, "bob",
       "home { store: '" + farm_ + "/stores/home2' path: 'bob' }", "state", "state: SUSPENDED"},
  };
  v1::FileStore home;
  ASSERT_TRUE(client_
                  ->Call<v1::CreateStoreRequest>(
                      "croft.v1.StoreService/CreateStore",
                      "parent: '" + farm_ +
                          "' store_id: 'home2' store { path: '/srv/h2' homes { fan_out: 9 } }",
                      home)
                  .ok());
  for (const TypeCase& c : cases) {
    SCOPED_TRACE(c.service);
    const std::string service = "croft.v1." + c.service + "Service/";
    const std::string parent = c.parent.empty() ? "" : "parent: '" + c.parent + "' ";
    const auto create =
        Make("Create" + c.service + "Request",
             parent + c.noun + "_id: '" + c.id + "' " + c.noun + " { " + c.resource + " }");
    const std::string type = MessageOf(c.service);
    const auto created = Make(type, "");
    grpc::Status status = client_->Call(service + "Create" + c.service, *create, *created);
    ASSERT_TRUE(status.ok()) << status.error_message();
    const std::string name = NameOf(*created);
    EXPECT_TRUE(name.ends_with("/" + c.id)) << name;
    EXPECT_EQ(client_->Call(service + "Create" + c.service, *create, *created).error_code(),
              StatusCode::ALREADY_EXISTS);

    const auto get = Make("Get" + c.service + "Request", "name: '" + name + "'");
    const auto got = Make(type, "");
    ASSERT_TRUE(client_->Call(service + "Get" + c.service, *get, *got).ok());
    EXPECT_EQ(NameOf(*got), name);

    const auto list = Make("List" + c.plural + "Request", parent + "page_size: 1000");
    const auto listed = Make("List" + c.plural + "Response", "");
    ASSERT_TRUE(client_->Call(service + "List" + c.plural, *list, *listed).ok());
    EXPECT_NE(listed->DebugString().find("\"" + name + "\""), std::string::npos);

    const auto update =
        Make("Update" + c.service + "Request", c.noun + " { name: '" + name + "' " + c.update +
                                                   " } update_mask { paths: '" + c.mask + "' }");
    const auto updated = Make(type, "");
    status = client_->Call(service + "Update" + c.service, *update, *updated);
    ASSERT_TRUE(status.ok()) << status.error_message();
    const auto reread = Make(type, "");
    ASSERT_TRUE(client_->Call(service + "Get" + c.service, *get, *reread).ok());
    EXPECT_NE(reread->DebugString().find(Make(type, c.update)->DebugString().substr(0, 8)),
              std::string::npos)
        << reread->DebugString();

    const auto remove = Make("Delete" + c.service + "Request", "name: '" + name + "'");
    const auto removed = Make(type, "");
    status = client_->Call(service + "Delete" + c.service, *remove, *removed);
    ASSERT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(client_->Call(service + "Get" + c.service, *get, *got).error_code(),
              StatusCode::NOT_FOUND);
  }
}

TEST_F(ControlApi, PlatformIsReadAndUpdated) {
  v1::Platform platform;
  ASSERT_TRUE(
      client_->Call<v1::GetPlatformRequest>("croft.v1.FarmService/GetPlatform", "", platform).ok());
  EXPECT_EQ(platform.name(), "platform");
  const grpc::Status status = client_->Call<v1::UpdatePlatformRequest>(
      "croft.v1.FarmService/UpdatePlatform",
      "platform { name: 'platform' settings { limits { max_url: 2000 } } } "
      "update_mask { paths: 'settings.limits.max_url' }",
      platform);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(platform.settings().limits().max_url(), 2000);
}

TEST_F(ControlApi, CallWithoutAValidTokenIsRefused) {
  for (const std::string& token :
       {std::string(), std::string("croft_operator_00"), "x" + control_.token()}) {
    const Client stranger(control_.Connect(), token);
    v1::ListFarmsResponse response;
    const grpc::Status status =
        stranger.Call<v1::ListFarmsRequest>("croft.v1.FarmService/ListFarms", "", response);
    EXPECT_EQ(status.error_code(), StatusCode::UNAUTHENTICATED) << token;
    EXPECT_EQ(response.farms_size(), 0);
  }
}

TEST_F(ControlApi, BindingOfAnotherSiteIsRefusedNamingIt) {
  v1::Site site;
  ASSERT_TRUE(CreateSite("one", "shop.example", site).ok());
  const grpc::Status status = CreateSite("two", "SHOP.example.", site);
  EXPECT_EQ(status.error_code(), StatusCode::ALREADY_EXISTS) << status.error_message();
  EXPECT_EQ(DetailOf(status).reason(), "BINDING_TAKEN");
  EXPECT_EQ(DetailOf(status).resource(), farm_ + "/sites/one");
}

TEST_F(ControlApi, InvalidFieldsAreAllReportedWithTheirPaths) {
  v1::Site site;
  const grpc::Status status = client_->Call<v1::CreateSiteRequest>(
      "croft.v1.SiteService/CreateSite",
      "parent: '" + farm_ +
          "' site_id: 'bad' site { bindings { host: 'a..example' } bindings { host: 'b.example' "
          "port: 70000 } }",
      site);
  EXPECT_EQ(status.error_code(), StatusCode::INVALID_ARGUMENT);
  std::set<std::string> fields;
  const v1::ErrorDetail detail = DetailOf(status);
  for (const v1::FieldViolation& violation : detail.violations()) {
    fields.insert(violation.field());
  }
  EXPECT_TRUE(fields.contains("site.bindings[0].host")) << status.error_message();
  EXPECT_TRUE(fields.contains("site.bindings[1].port")) << status.error_message();
}

TEST_F(ControlApi, RepeatedRequestIdIsAnsweredOnceAndAnotherRequestWithItRefused) {
  v1::Site first;
  v1::Site second;
  const std::string id = "request_id: 'r-" + farm_id_ + "'";
  ASSERT_TRUE(CreateSite("shop", "shop.example", first, id).ok());
  const grpc::Status again = CreateSite("shop", "shop.example", second, id);
  ASSERT_TRUE(again.ok()) << again.error_message();
  EXPECT_EQ(first.uid(), second.uid());
  EXPECT_EQ(first.revision(), second.revision());
  EXPECT_FALSE(CreateSite("other", "other.example", second, id).ok());
}

TEST_F(ControlApi, ChangeWithAnOldEtagIsRefused) {
  v1::Site site;
  ASSERT_TRUE(CreateSite("shop", "shop.example", site).ok());
  const auto update = [&](const std::string& etag) {
    v1::Site updated;
    return client_->Call<v1::UpdateSiteRequest>(
        "croft.v1.SiteService/UpdateSite",
        "site { name: '" + site.name() + "' etag: '" + etag +
            "' state: STOPPED } update_mask { paths: 'state' }",
        updated);
  };
  ASSERT_FALSE(site.etag().empty());
  EXPECT_TRUE(update(site.etag()).ok());
  const grpc::Status refused = update(site.etag());
  EXPECT_FALSE(refused.ok());
  EXPECT_EQ(DetailOf(refused).reason(), "ETAG_MISMATCH") << refused.error_message();
}

TEST_F(ControlApi, ValidateOnlyChangesNothing) {
  v1::Site site;
  ASSERT_TRUE(CreateSite("shop", "shop.example", site, "validate_only: true").ok());
  v1::ListSitesResponse listed;
  ASSERT_TRUE(client_
                  ->Call<v1::ListSitesRequest>("croft.v1.SiteService/ListSites",
                                               "parent: '" + farm_ + "'", listed)
                  .ok());
  EXPECT_EQ(listed.sites_size(), 0);
}

TEST_F(ControlApi, PagesShowWhatExistsThroughoutExactlyOnceWhileRowsChange) {
  v1::Site site;
  for (int i = 0; i < 12; ++i) {
    const std::string id = "s" + std::to_string(10 + i);
    ASSERT_TRUE(CreateSite(id, id + ".example", site).ok());
  }
  std::multiset<std::string> seen;
  std::string token;
  for (int page = 0; page < 20; ++page) {
    v1::ListSitesResponse listed;
    v1::ListSitesRequest request;
    request.set_parent(farm_);
    request.set_page_size(5);
    request.set_page_token(token);
    ASSERT_TRUE(client_->Call("croft.v1.SiteService/ListSites", request, listed).ok());
    for (const v1::Site& one : listed.sites()) {
      seen.insert(one.name().substr(one.name().rfind('/') + 1));
    }
    token = listed.next_page_token();
    if (token.empty()) {
      break;
    }
    // Before and after the cursor: one goes, one comes.
    v1::Site removed;
    ASSERT_TRUE(client_
                    ->Call<v1::DeleteSiteRequest>(
                        "croft.v1.SiteService/DeleteSite",
                        "name: '" + farm_ + "/sites/s1" + std::to_string(page) + "'", removed)
                    .ok());
    ASSERT_TRUE(
        CreateSite("a" + std::to_string(page), "a" + std::to_string(page) + ".example", site).ok());
  }
  for (int i = 3; i < 12; ++i) {
    EXPECT_EQ(seen.count("s" + std::to_string(10 + i)), 1U) << i;
  }
}

TEST_F(ControlApi, AuditListsWhoChangedWhatAndWhy) {
  v1::Site site;
  ASSERT_TRUE(CreateSite("shop", "shop.example", site, "reason: 'ticket 7'").ok());
  v1::ListChangesResponse changes;
  ASSERT_TRUE(client_
                  ->Call<v1::ListChangesRequest>("croft.v1.ChangeService/ListChanges",
                                                 "resource: '" + site.name() + "'", changes)
                  .ok());
  ASSERT_EQ(changes.changes_size(), 1);
  EXPECT_EQ(changes.changes(0).revision(), site.revision());
  EXPECT_EQ(changes.changes(0).who(), "administrator");
  EXPECT_EQ(changes.changes(0).reason(), "ticket 7");
  v1::ListChangesResponse page;
  ASSERT_TRUE(
      client_
          ->Call<v1::ListChangesRequest>("croft.v1.ChangeService/ListChanges", "page_size: 1", page)
          .ok());
  EXPECT_EQ(page.changes_size(), 1);
  v1::ListChangesRequest next;
  next.set_page_size(1);
  next.set_page_token(page.next_page_token());
  v1::ListChangesResponse second;
  ASSERT_TRUE(client_->Call("croft.v1.ChangeService/ListChanges", next, second).ok());
  EXPECT_LT(second.changes(0).revision(), page.changes(0).revision());
}

TEST_F(ControlApi, ImportAnswersEachBatchWithEachBadRow) {
  v1::FileStore store;
  ASSERT_TRUE(
      client_
          ->Call<v1::CreateStoreRequest>(
              "croft.v1.StoreService/CreateStore",
              "parent: '" + farm_ +
                  "' store_id: 'home' store { path: '/srv/home' homes { fan_out: [7, 5] } }",
              store)
          .ok());
  const auto stub = v1::ResourceService::NewStub(client_->channel());
  grpc::ClientContext context;
  client_->Authorize(context);
  const auto stream = stub->ImportResources(&context);
  std::int64_t created = 0;
  std::vector<v1::ImportRowError> errors;
  for (int batch = 0; batch < 3; ++batch) {
    v1::ImportResourcesRequest request;
    for (int i = 0; i < 100; ++i) {
      v1::ImportRow& row = *request.add_rows();
      row.set_line(batch * 100 + i + 1);
      row.mutable_resource()->mutable_account()->set_name(
          farm_ + "/accounts/" + (i == 50 ? "not valid!" : "u" + std::to_string(batch * 100 + i)));
    }
    ASSERT_TRUE(stream->Write(request));
    v1::ImportResourcesResponse response;
    ASSERT_TRUE(stream->Read(&response));
    created += response.counts().created();
    errors.insert(errors.end(), response.errors().begin(), response.errors().end());
  }
  stream->WritesDone();
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_EQ(created, 297);
  ASSERT_EQ(errors.size(), 3U);
  EXPECT_EQ(errors[1].line(), 151);
}

TEST_F(ControlApi, ImportOfTooManyRowsInOneMessageIsRefused) {
  const auto stub = v1::ResourceService::NewStub(client_->channel());
  grpc::ClientContext context;
  client_->Authorize(context);
  const auto stream = stub->ImportResources(&context);
  v1::ImportResourcesRequest request;
  for (int i = 0; i < 10'001; ++i) {
    request.add_rows()->set_line(i);
  }
  stream->Write(request);
  v1::ImportResourcesResponse response;
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_EQ(stream->Finish().error_code(), StatusCode::INVALID_ARGUMENT);
}

TEST_F(ControlApi, FieldThatControlDoesNotKnowIsRefused) {
  v1::CreateSiteRequest request;
  request.set_parent(farm_);
  request.set_site_id("shop");
  request.GetReflection()->MutableUnknownFields(&request)->AddVarint(900, 1);
  v1::Site site;
  EXPECT_EQ(client_->Call("croft.v1.SiteService/CreateSite", request, site).error_code(),
            StatusCode::INVALID_ARGUMENT);
}

TEST_F(ControlApi, ExplainUrlNamesBindingPoolFileAndSettingsWithTheirOrigins) {
  v1::ApplicationPool pool;
  v1::FileStore store;
  v1::Site site;
  ASSERT_TRUE(client_
                  ->Call<v1::CreatePoolRequest>("croft.v1.PoolService/CreatePool",
                                                "parent: '" + farm_ + "' pool_id: 'web' pool {}",
                                                pool)
                  .ok());
  ASSERT_TRUE(client_
                  ->Call<v1::CreateStoreRequest>(
                      "croft.v1.StoreService/CreateStore",
                      "parent: '" + farm_ + "' store_id: 'files' store { path: '/srv/files' }",
                      store)
                  .ok());
  const std::string application = "applications { path: '/' pool: '" + pool.name() +
                                  "' root { store: '" + store.name() + "' path: 'shop' } }";
  grpc::Status status = client_->Call<v1::CreateSiteRequest>(
      "croft.v1.SiteService/CreateSite",
      "parent: '" + farm_ + "' site_id: 'shop' site { bindings { host: 'shop.example' } " +
          application +
          " settings { limits { max_query: 99 } } paths { path: '/docs' settings { limits { "
          "max_body: 7 } } } }",
      site);
  ASSERT_TRUE(status.ok()) << status.error_message();
  ASSERT_TRUE(CreateSite("rest", "*.example", site).ok());
  v1::ExplainUrlResponse explained;
  status = client_->Call<v1::ExplainUrlRequest>(
      "croft.v1.SiteService/ExplainUrl",
      "farm: '" + farm_ + "' url: 'http://Shop.example/docs/a%20b.html?x=1'", explained);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(explained.status(), 0) << explained.reason();
  EXPECT_EQ(explained.site(), farm_ + "/sites/shop");
  EXPECT_EQ(explained.binding().host(), "shop.example");
  ASSERT_EQ(explained.shadowed_size(), 1);
  EXPECT_EQ(explained.shadowed(0).site(), farm_ + "/sites/rest");
  EXPECT_EQ(explained.application(), "/");
  EXPECT_EQ(explained.pool(), pool.name());
  EXPECT_EQ(explained.root().store(), store.name());
  EXPECT_EQ(explained.file(), "docs/a b.html");
  EXPECT_EQ(explained.node_path(), "/srv/files/shop/docs/a b.html");
  std::map<std::string, std::string> origins;
  for (const v1::EffectiveValue& value : explained.settings()) {
    origins[value.path()] = value.origin();
  }
  EXPECT_EQ(origins["limits.max_body"], farm_ + "/sites/shop/docs");
  EXPECT_EQ(origins["limits.max_query"], farm_ + "/sites/shop");
  EXPECT_EQ(origins["timeouts.idle"], "default");
  ASSERT_TRUE(client_
                  ->Call<v1::ExplainUrlRequest>("croft.v1.SiteService/ExplainUrl",
                                                "farm: '" + farm_ + "' url: 'http://nobody.test/'",
                                                explained)
                  .ok());
  EXPECT_EQ(explained.status(), 400);
}

TEST_F(ControlApi, WaitWithNoNodesIsReachedAtOnce) {
  v1::WaitForRevisionResponse waited;
  const grpc::Status status = client_->Call<v1::WaitForRevisionRequest>(
      "croft.v1.ChangeService/WaitForRevision", "farm: '" + farm_ + "' revision: 1 level: SERVING",
      waited);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_TRUE(waited.reached());
}

TEST_F(ControlApi, CountersOfAnUnknownTypeAreRefusedNamingTheKnown) {
  v1::TopResponse top;
  EXPECT_TRUE(
      client_->Call<v1::TopRequest>("croft.v1.ReportService/Top", "type: 'site'", top).ok());
  EXPECT_EQ(
      client_->Call<v1::TopRequest>("croft.v1.ReportService/Top", "type: 'disk'", top).error_code(),
      StatusCode::INVALID_ARGUMENT);
}

}  // namespace
}  // namespace croft::tests
