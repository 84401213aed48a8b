// Watches of resources on a real control and PostgreSQL: writers at the same time, callers that
// leave, tokens that end.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "croft/v1/farm.pb.h"
#include "croft/v1/operator.pb.h"
#include "croft/v1/report.grpc.pb.h"
#include "croft/v1/resource.grpc.pb.h"
#include "croft/v1/site.pb.h"
#include "tests/integration/control/running_control.h"

namespace croft::tests {
namespace {

using grpc::StatusCode;
using std::chrono::steady_clock;
using Event = v1::WatchResourcesResponse;

// A watch as a client has it.
class Watching {
 public:
  Watching(const Client& client, const std::string& request)
      : stub_(v1::ResourceService::NewStub(client.channel())) {
    v1::WatchResourcesRequest parsed;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(request, &parsed)) << request;
    client.Authorize(context_);
    reader_ = stub_->WatchResources(&context_, parsed);
  }
  ~Watching() {
    context_.TryCancel();
    Event ignored;
    while (reader_ != nullptr && reader_->Read(&ignored)) {
    }
    if (reader_ != nullptr) {
      reader_->Finish();
    }
  }

  // False when the stream has ended.
  bool Read(Event& event) {
    const bool read = reader_->Read(&event);
    token_ = read ? event.resume_token() : token_;
    return read;
  }
  // "+a@7", with the revision; "=" for a bookmark, "end" at the end.
  std::string Next() {
    Event event;
    return Read(event) ? Describe(event) : "end";
  }
  grpc::Status End() {
    Event ignored;
    while (reader_->Read(&ignored)) {
    }
    grpc::Status status = reader_->Finish();
    reader_.reset();
    return status;
  }
  const std::string& token() const { return token_; }

  static std::string Describe(const Event& event) {
    if (event.kind() == Event::BOOKMARK) {
      return "=";
    }
    const std::string& name = event.resource().site().name();
    return fmt::format("{}{}@{}",
                       event.kind() == Event::CREATED   ? "+"
                       : event.kind() == Event::UPDATED ? "*"
                                                        : "-",
                       name.substr(name.rfind('/') + 1), event.revision());
  }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<v1::ResourceService::Stub> stub_;
  std::unique_ptr<grpc::ClientReader<Event>> reader_;
  std::string token_;
};

class ControlWatch : public testing::Test {
 protected:
  void SetUp() override {
    id_ = "w" + NewFarmId();
    farm_ = "farms/" + id_;
    v1::Farm farm;
    ASSERT_TRUE(client_
                    .Call<v1::CreateFarmRequest>("croft.v1.FarmService/CreateFarm",
                                                 "farm_id: '" + id_ + "'", farm)
                    .ok());
  }

  v1::Site AddSite(const std::string& id) { return AddSite(client_, id); }
  v1::Site AddSite(const Client& client, const std::string& id) {
    v1::Site site;
    const grpc::Status status = client.Call<v1::CreateSiteRequest>(
        "croft.v1.SiteService/CreateSite",
        fmt::format("parent: '{}' site_id: '{}' site {{ bindings {{ host: '{}.{}.example' }} }}",
                    farm_, id, id, id_),
        site);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return site;
  }
  v1::Site SetState(const std::string& id, const std::string& state) {
    v1::Site site;
    const grpc::Status status = client_.Call<v1::UpdateSiteRequest>(
        "croft.v1.SiteService/UpdateSite",
        fmt::format("site {{ name: '{}/sites/{}' state: {} }}", farm_, id, state), site);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return site;
  }
  void DeleteSite(const std::string& id) {
    v1::Site site;
    EXPECT_TRUE(client_
                    .Call<v1::DeleteSiteRequest>("croft.v1.SiteService/DeleteSite",
                                                 fmt::format("name: '{}/sites/{}'", farm_, id),
                                                 site)
                    .ok());
  }
  std::string Request(const std::string& more = "") {
    return "type: 'site' parent: '" + farm_ + "' " + more;
  }
  std::string At(const std::string& what, const v1::Site& site) {
    return fmt::format("{}@{}", what, site.revision());
  }
  // The secret of a token that sees nothing, or everything.
  std::string NewToken(const std::string& name, bool sees) {
    v1::Operator made;
    v1::Token token;
    const std::string grants =
        sees ? "grants { organization: 'organizations/root' role: VIEWER }" : "";
    EXPECT_TRUE(client_
                    .Call<v1::CreateOperatorRequest>(
                        "croft.v1.OperatorService/CreateOperator",
                        "operator_id: '" + name + "' operator { " + grants + " }", made)
                    .ok());
    EXPECT_TRUE(client_
                    .Call<v1::CreateTokenRequest>("croft.v1.TokenService/CreateToken",
                                                  "token_id: '" + name +
                                                      "' token { operator: 'operators/" + name +
                                                      "' lifetime: 600000 }",
                                                  token)
                    .ok());
    return token.secret();
  }

  RunningControl& control_ = RunningControl::Shared();
  const Client client_{control_.Connect(), control_.token()};
  std::string id_;
  std::string farm_;
};

TEST_F(ControlWatch, FollowsChangesAsTheyCommit) {
  Watching watch(client_, Request());
  ASSERT_EQ(watch.Next(), "=");
  const v1::Site created = AddSite("a");
  EXPECT_EQ(watch.Next(), At("+a", created));
  const v1::Site updated = SetState("a", "STOPPED");
  Event event;
  ASSERT_TRUE(watch.Read(event));
  EXPECT_EQ(Watching::Describe(event), At("*a", updated));
  EXPECT_EQ(event.resource().site().ShortDebugString(), updated.ShortDebugString());
  DeleteSite("a");
  ASSERT_TRUE(watch.Read(event));
  EXPECT_EQ(event.kind(), Event::DELETED);
  EXPECT_EQ(event.resource().site().uid(), created.uid());
  EXPECT_EQ(event.resource().site().bindings_size(), 0);
}

TEST_F(ControlWatch, SendsWhatExistsAndThenWhatTheFilterSelects) {
  const v1::Site a = AddSite("a");
  AddSite("b");
  const v1::Site stopped = SetState("b", "STOPPED");
  Watching watch(client_, Request("filter: 'state = STOPPED' send_existing: true"));
  EXPECT_EQ(watch.Next(), At("+b", stopped));
  EXPECT_EQ(watch.Next(), "=");
  const v1::Site started = SetState("b", "STARTED");
  EXPECT_EQ(watch.Next(), At("-b", started));
  const v1::Site a_stopped = SetState("a", "STOPPED");
  EXPECT_EQ(watch.Next(), At("+a", a_stopped));
}

// Writers at work, a reader that leaves at any moment, and goes on with its last token.
TEST_F(ControlWatch, ResumesWithNothingMissedOrRepeated) {
  constexpr int kWriters = 4;
  constexpr int kSitesEach = 40;
  std::string token;
  {
    Watching begin(client_, Request());
    ASSERT_EQ(begin.Next(), "=");
    token = begin.token();
  }
  std::vector<std::thread> writers;
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([this, writer] {
      const Client client(control_.Connect(), control_.token());
      for (int i = 0; i < kSitesEach; ++i) {
        AddSite(client, fmt::format("s{}-{}", writer, i));
      }
    });
  }
  std::vector<std::int64_t> revisions;
  std::set<std::string> names;
  int connections = 0;
  const auto deadline = steady_clock::now() + std::chrono::seconds(30);
  while (names.size() < kWriters * kSitesEach && steady_clock::now() < deadline) {
    Watching watch(client_, Request("resume_token: '" + token + "'"));
    ++connections;
    for (int read = 0; read < 7 + connections && names.size() < kWriters * kSitesEach; ++read) {
      Event event;
      ASSERT_TRUE(watch.Read(event)) << watch.End().error_message();
      token = watch.token();
      if (event.kind() == Event::CREATED) {
        revisions.push_back(event.revision());
        EXPECT_TRUE(names.insert(event.resource().site().name()).second);
      }
    }
  }
  for (std::thread& writer : writers) {
    writer.join();
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kWriters * kSitesEach));
  EXPECT_TRUE(std::is_sorted(revisions.begin(), revisions.end()));
  EXPECT_GT(connections, 3);
  // Nothing is left over.
  const v1::Site last = AddSite("last");
  Watching watch(client_, Request("resume_token: '" + token + "'"));
  std::string next = watch.Next();
  EXPECT_EQ(next == "=" ? watch.Next() : next, At("+last", last));
}

TEST_F(ControlWatch, EndsSoonAfterItsTokenIsRevoked) {
  const std::string name = id_ + "-reader";
  const Client reader(control_.Connect(), NewToken(name, true));
  Watching watch(reader, Request());
  ASSERT_EQ(watch.Next(), "=");
  v1::Token token;
  ASSERT_TRUE(client_
                  .Call<v1::DeleteTokenRequest>("croft.v1.TokenService/DeleteToken",
                                                "name: 'tokens/" + name + "'", token)
                  .ok());
  const auto revoked = steady_clock::now();
  EXPECT_EQ(watch.End().error_code(), StatusCode::UNAUTHENTICATED);
  EXPECT_LT(steady_clock::now() - revoked, std::chrono::milliseconds(1000));
}

TEST_F(ControlWatch, ShowsAStrangerNothing) {
  const Client stranger(control_.Connect(), NewToken(id_ + "-stranger", false));
  Watching all(client_, Request());
  ASSERT_EQ(all.Next(), "=");
  Watching watch(stranger, Request("send_existing: true"));
  AddSite("a");
  EXPECT_EQ(watch.Next(), "=");
  // The other watch has it; this one had its chance.
  EXPECT_EQ(all.Next().substr(0, 2), "+a");
  const std::string token = watch.token();
  Watching again(stranger, Request("send_existing: true resume_token: '" + token + "'"));
  EXPECT_EQ(again.Next(), "=");
}

TEST_F(ControlWatch, RefusesATokenThatIsNotItsOwn) {
  Watching first(client_, Request());
  ASSERT_EQ(first.Next(), "=");
  Watching other(client_, "type: 'pool' resume_token: '" + first.token() + "'");
  const grpc::Status status = other.End();
  EXPECT_EQ(status.error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(DetailOf(status).violations(0).field(), "resume_token");
  Watching ghost(client_, "type: 'ghost'");
  EXPECT_EQ(ghost.End().error_code(), StatusCode::INVALID_ARGUMENT);
}

TEST_F(ControlWatch, ClientsThatDieLeaveControlWell) {
  for (int i = 0; i < 50; ++i) {
    Watching watch(client_, Request("send_existing: true"));
    if (i % 2 == 0) {
      watch.Next();
    }
  }
  const v1::Site site = AddSite("after");
  EXPECT_GT(site.revision(), 0);
}

TEST_F(ControlWatch, EventsAreWatchedUntilTheTokenIsRevoked) {
  const std::string name = id_ + "-events";
  const Client reader(control_.Connect(), NewToken(name, true));
  const auto stub = v1::ReportService::NewStub(reader.channel());
  grpc::ClientContext context;
  reader.Authorize(context);
  const auto stream = stub->WatchEvents(&context, v1::WatchEventsRequest());
  v1::Token token;
  ASSERT_TRUE(client_
                  .Call<v1::DeleteTokenRequest>("croft.v1.TokenService/DeleteToken",
                                                "name: 'tokens/" + name + "'", token)
                  .ok());
  v1::WatchEventsResponse response;
  while (stream->Read(&response)) {
  }
  EXPECT_EQ(stream->Finish().error_code(), StatusCode::UNAUTHENTICATED);
}

}  // namespace
}  // namespace croft::tests
