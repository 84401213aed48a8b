// What nodes do with a real control: enrol, connect, be fed; and what a crash of control leaves
// behind.
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <future>
#include <string>

#include "croft/node/v1/feed.grpc.pb.h"
#include "croft/v1/change.pb.h"
#include "croft/v1/farm.pb.h"
#include "croft/v1/node.pb.h"
#include "croft/v1/report.pb.h"
#include "croft/v1/site.pb.h"
#include "tests/integration/control/running_control.h"

namespace croft::tests {
namespace {

using grpc::StatusCode;

struct KeyAndRequest {
  std::string key;
  std::string request;
};

std::string TakeText(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  std::string text(data, static_cast<std::size_t>(size));
  BIO_free(bio);
  return text;
}

KeyAndRequest MakeRequest() {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509_REQ* request = X509_REQ_new();
  X509_REQ_set_pubkey(request, key);
  X509_REQ_sign(request, key, EVP_sha256());
  BIO* key_text = BIO_new(BIO_s_mem());
  PEM_write_bio_PrivateKey(key_text, key, nullptr, nullptr, 0, nullptr, nullptr);
  BIO* request_text = BIO_new(BIO_s_mem());
  PEM_write_bio_X509_REQ(request_text, request);
  X509_REQ_free(request);
  EVP_PKEY_free(key);
  return {.key = TakeText(key_text), .request = TakeText(request_text)};
}

// A node as far as the wire is concerned.
struct EnrolledNode {
  std::string name;
  std::string certificate;
  std::string key;
};

class ControlNodes : public testing::Test {
 protected:
  void SetUp() override {
    Reconnect();
    const std::string id = NewFarmId();
    farm_ = "farms/" + id;
    web1_ = farm_ + "/nodes/web1";
    v1::Farm farm;
    ASSERT_TRUE(client_
                    ->Call<v1::CreateFarmRequest>("croft.v1.FarmService/CreateFarm",
                                                  "farm_id: '" + id + "'", farm)
                    .ok());
  }

  void Reconnect() { client_ = std::make_unique<Client>(control_.Connect(), control_.token()); }

  std::string MakeToken(const std::string& node) {
    v1::JoinToken token;
    const grpc::Status status = client_->Call<v1::CreateJoinTokenRequest>(
        "croft.v1.NodeService/CreateJoinToken", "node: '" + node + "'", token);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return token.token();
  }

  grpc::Status Enroll(const std::string& token, const std::string& request,
                      node::v1::EnrollResponse& response) {
    node::v1::EnrollRequest message;
    message.set_token(token);
    message.set_certificate_request(request);
    return Client(control_.Connect(), "")
        .Call("croft.node.v1.Enrollment/Enroll", message, response);
  }

  EnrolledNode EnrollNode(const std::string& name) {
    const KeyAndRequest mine = MakeRequest();
    node::v1::EnrollResponse response;
    const grpc::Status status = Enroll(MakeToken(name), mine.request, response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(response.node(), name);
    EXPECT_EQ(response.ca(), control_.ca());
    return {.name = name, .certificate = response.certificate(), .key = mine.key};
  }

  std::int64_t CreateSite(const std::string& id) {
    v1::Site site;
    const grpc::Status status = client_->Call<v1::CreateSiteRequest>(
        "croft.v1.SiteService/CreateSite",
        "parent: '" + farm_ + "' site_id: '" + id + "' site { bindings { host: '" + id +
            ".example' } }",
        site);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return site.revision();
  }

  v1::Node GetNode(const std::string& name) {
    v1::Node node;
    EXPECT_TRUE(
        client_
            ->Call<v1::GetNodeRequest>("croft.v1.NodeService/GetNode", "name: '" + name + "'", node)
            .ok());
    return node;
  }

  RunningControl& control_ = RunningControl::Shared();
  std::string farm_;
  std::string web1_;
  std::unique_ptr<Client> client_;
};

// A stream that takes everything and acknowledges each cut.
class FakeNode {
 public:
  FakeNode(const RunningControl& control, const EnrolledNode& node)
      : stub_(node::v1::NodeFeed::NewStub(control.Connect(node.certificate, node.key))) {
    context_.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
    stream_ = stub_->Connect(&context_);
  }
  ~FakeNode() { context_.TryCancel(); }

  void Hello(const v1::VanishingSites& vanishing = {}) {
    node::v1::NodeMessage message;
    if (vanishing.sites() > 0) {
      *message.mutable_hello()->mutable_vanishing() = vanishing;
    }
    message.mutable_hello()->set_schema_level(1);
    message.mutable_hello()->set_version("test");
    stream_->Write(message);
  }
  // Reads on until the replica would hold `revision` and `site` is in it; false when the stream
  // ends first.
  bool ReadUntil(std::int64_t revision) {
    node::v1::ControlMessage message;
    while (revision_ < revision) {
      if (!stream_->Read(&message)) {
        return false;
      }
      if (message.has_welcome()) {
        mode_ = message.welcome().mode();
        accepted_ = message.welcome().accepted_vanishing();
      }
      for (const node::v1::Record& record : message.batch().records()) {
        v1::Site site;
        if (record.type() == node::v1::SITE && site.ParseFromString(record.body())) {
          last_site_ = site.name();
        }
      }
      if (message.batch().cut()) {
        Acknowledge(message.batch().position());
      }
    }
    return true;
  }
  void Report(std::uint64_t boot_id, std::int64_t site_uid, std::int64_t requests) {
    node::v1::NodeMessage message;
    message.mutable_counters()->set_boot_id(boot_id);
    message.mutable_counters()->set_source("listener");
    node::v1::CounterInstance& site = *message.mutable_counters()->add_instances();
    site.set_type(2);
    site.set_uid(site_uid);
    site.add_values(requests);
    stream_->Write(message);
    node::v1::NodeMessage event;
    event.mutable_event()->set_kind("url_refused");
    event.mutable_event()->set_site_uid(site_uid);
    event.mutable_event()->set_message("killed two workers");
    event.mutable_event()->set_time_unix_ms(1'800'000'000'000);
    stream_->Write(event);
  }
  grpc::Status Finish() {
    node::v1::ControlMessage ignored;
    while (stream_->Read(&ignored)) {
    }
    return stream_->Finish();
  }

  node::v1::Welcome::Mode mode() const { return mode_; }
  const v1::VanishingSites& accepted() const { return accepted_; }
  const std::string& last_site() const { return last_site_; }

 private:
  void Acknowledge(const node::v1::Position& position) {
    revision_ = position.revision();
    node::v1::NodeMessage ack;
    *ack.mutable_ack()->mutable_position() = position;
    stream_->Write(ack);
    node::v1::NodeMessage marks;
    marks.mutable_marks()->set_applied_revision(revision_);
    marks.mutable_marks()->set_serving_revision(revision_);
    stream_->Write(marks);
  }

  std::unique_ptr<node::v1::NodeFeed::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<node::v1::NodeMessage, node::v1::ControlMessage>>
      stream_;
  std::int64_t revision_ = 0;
  node::v1::Welcome::Mode mode_ = node::v1::Welcome::MODE_UNSPECIFIED;
  v1::VanishingSites accepted_;
  std::string last_site_;
};

TEST_F(ControlNodes, EnrolConnectSnapshotWaitCountersAndDeletion) {
  const std::int64_t before = CreateSite("shop");
  const EnrolledNode enrolled = EnrollNode(web1_);
  EXPECT_EQ(GetNode(enrolled.name).status().connection(), v1::NodeStatus::PENDING);

  FakeNode node(control_, enrolled);
  node.Hello();
  ASSERT_TRUE(node.ReadUntil(before));
  EXPECT_EQ(node.mode(), node::v1::Welcome::SNAPSHOT);
  EXPECT_EQ(node.last_site(), farm_ + "/sites/shop");
  // A change reaches the stream by itself, and a wait ends when the node serves it.
  const std::int64_t after = CreateSite("later");
  ASSERT_TRUE(node.ReadUntil(after));
  EXPECT_EQ(node.last_site(), farm_ + "/sites/later");
  v1::WaitForRevisionResponse waited;
  const grpc::Status status = client_->Call<v1::WaitForRevisionRequest>(
      "croft.v1.ChangeService/WaitForRevision",
      "farm: '" + farm_ + "' level: SERVING timeout_ms: 10000 revision: " + std::to_string(after),
      waited);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_TRUE(waited.reached()) << waited.DebugString();
  // Marks reach the store, and so every instance of control, some milliseconds later.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (GetNode(enrolled.name).status().serving_revision() != after) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
  }
  EXPECT_EQ(GetNode(enrolled.name).status().connection(), v1::NodeStatus::CONNECTED);

  v1::Site site;
  ASSERT_TRUE(client_
                  ->Call<v1::GetSiteRequest>("croft.v1.SiteService/GetSite",
                                             "name: '" + farm_ + "/sites/shop'", site)
                  .ok());
  node.Report(77, site.uid(), 10);
  node.Report(77, site.uid(), 25);
  v1::ListEventsResponse events;
  v1::ListCountersResponse counters;
  while (events.events_size() < 2 && std::chrono::steady_clock::now() < deadline) {
    ASSERT_TRUE(client_
                    ->Call<v1::ListEventsRequest>("croft.v1.ReportService/ListEvents",
                                                  "resource: '" + farm_ + "'", events)
                    .ok());
  }
  ASSERT_EQ(events.events_size(), 2);
  EXPECT_EQ(events.events(0).site(), site.name());
  EXPECT_EQ(events.events(0).node(), enrolled.name);
  ASSERT_TRUE(client_
                  ->Call<v1::ListCountersRequest>("croft.v1.ReportService/ListCounters",
                                                  "type: 'site' farm: '" + farm_ + "'", counters)
                  .ok());
  ASSERT_EQ(counters.instances_size(), 1);
  EXPECT_EQ(counters.instances(0).instance(), site.name());
  EXPECT_EQ(counters.instances(0).counters(0).value(), 25);

  // A certificate does not outlive its node, nor serve for another of the same name.
  v1::Node removed;
  ASSERT_TRUE(client_
                  ->Call<v1::DeleteNodeRequest>("croft.v1.NodeService/DeleteNode",
                                                "name: '" + enrolled.name + "'", removed)
                  .ok());
  FakeNode refused(control_, enrolled);
  EXPECT_EQ(refused.Finish().error_code(), StatusCode::PERMISSION_DENIED);
  MakeToken(enrolled.name);  // makes it again
  FakeNode namesake(control_, enrolled);
  EXPECT_EQ(namesake.Finish().error_code(), StatusCode::PERMISSION_DENIED);
}

TEST_F(ControlNodes, WhatWouldVanishIsAcceptedByItsNumberAlone) {
  const EnrolledNode node = EnrollNode(web1_);
  const std::int64_t revision = CreateSite("shop");
  const auto resume = [&](int count) {
    v1::Node answer;
    return client_->Call<v1::ResumeNodeRequest>(
        "croft.v1.NodeService/ResumeNode",
        "name: '" + web1_ + "' expected_count: " + std::to_string(count), answer);
  };
  EXPECT_EQ(resume(12).error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  v1::VanishingSites vanishing;
  vanishing.set_epoch(5);
  vanishing.set_sites(12);
  vanishing.set_held(13);
  FakeNode first(control_, node);
  first.Hello(vanishing);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (GetNode(web1_).status().vanishing().sites() != 12) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
  }
  const grpc::Status refused = resume(11);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_NE(refused.error_message().find("croft resume node " + web1_ + " --expect-count 12"),
            std::string::npos);
  EXPECT_TRUE(resume(12).ok());
  FakeNode second(control_, node);
  second.Hello(vanishing);
  ASSERT_TRUE(second.ReadUntil(revision));
  EXPECT_EQ(second.accepted().epoch(), 5U);
  EXPECT_EQ(second.accepted().sites(), 12);
}

TEST_F(ControlNodes, JoinTokenWorksOnceAndABadRequestDoesNotUseItUp) {
  const std::string token = MakeToken(web1_);
  const KeyAndRequest mine = MakeRequest();
  node::v1::EnrollResponse response;
  EXPECT_EQ(Enroll(token, "nonsense", response).error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(Enroll("croft_join_00", mine.request, response).error_code(),
            StatusCode::UNAUTHENTICATED);
  EXPECT_TRUE(Enroll(token, mine.request, response).ok());
  EXPECT_EQ(Enroll(token, mine.request, response).error_code(), StatusCode::UNAUTHENTICATED);
}

TEST_F(ControlNodes, NodesAndOperatorsCannotCallEachOthersMethods) {
  const EnrolledNode enrolled = EnrollNode(web1_);
  v1::ListFarmsResponse farms;
  for (const std::string& token : {std::string(), control_.token()}) {
    const Client node(control_.Connect(enrolled.certificate, enrolled.key), token);
    EXPECT_EQ(
        node.Call<v1::ListFarmsRequest>("croft.v1.FarmService/ListFarms", "", farms).error_code(),
        StatusCode::PERMISSION_DENIED);
  }
  grpc::ClientContext context;
  client_->Authorize(context);
  const auto stub = node::v1::NodeFeed::NewStub(control_.Connect());
  const auto stream = stub->Connect(&context);
  node::v1::ControlMessage message;
  EXPECT_FALSE(stream->Read(&message));
  EXPECT_EQ(stream->Finish().error_code(), StatusCode::UNAUTHENTICATED);
}

TEST_F(ControlNodes, CertificateOfAStrangerFailsTheHandshake) {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* certificate = X509_new();
  X509_set_pubkey(certificate, key);
  X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
  X509_sign(certificate, key, EVP_sha256());
  BIO* certificate_text = BIO_new(BIO_s_mem());
  PEM_write_bio_X509(certificate_text, certificate);
  BIO* key_text = BIO_new(BIO_s_mem());
  PEM_write_bio_PrivateKey(key_text, key, nullptr, nullptr, 0, nullptr, nullptr);
  X509_free(certificate);
  EVP_PKEY_free(key);
  const Client stranger(control_.Connect(TakeText(certificate_text), TakeText(key_text)),
                        control_.token());
  v1::ListFarmsResponse farms;
  EXPECT_EQ(
      stranger.Call<v1::ListFarmsRequest>("croft.v1.FarmService/ListFarms", "", farms).error_code(),
      StatusCode::UNAVAILABLE);
}

TEST_F(ControlNodes, StreamsThatComeAndGoLeaveControlWell) {
  const EnrolledNode enrolled = EnrollNode(web1_);
  const std::int64_t revision = CreateSite("shop");
  // A stream before may be seen to open after this one, which ends it; a node then comes again.
  const auto arrives = [&] {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (std::chrono::steady_clock::now() < deadline) {
      FakeNode node(control_, enrolled);
      node.Hello();
      if (node.ReadUntil(revision)) {
        return true;
      }
    }
    return false;
  };
  for (int i = 0; i < 40; ++i) {
    FakeNode node(control_, enrolled);  // gone at some point of being opened
    if (i % 2 == 0) {
      node.Hello();
    }
    if (i % 8 == 0) {
      EXPECT_TRUE(arrives());
    }
  }
  EXPECT_TRUE(arrives());
}

TEST_F(ControlNodes, StoppingControlEndsStreamsAndWaitsThatAreUnderWay) {
  const EnrolledNode enrolled = EnrollNode(web1_);
  const std::int64_t revision = CreateSite("shop");
  FakeNode node(control_, enrolled);
  node.Hello();
  ASSERT_TRUE(node.ReadUntil(revision));
  auto waiting = std::async(std::launch::async, [this, revision] {
    v1::WaitForRevisionResponse waited;
    return client_->Call<v1::WaitForRevisionRequest>(
        "croft.v1.ChangeService/WaitForRevision",
        "farm: '" + farm_ +
            "' level: SERVING timeout_ms: 15000 revision: " + std::to_string(revision + 1000),
        waited);
  });
  // Once control answers this, it has the wait before it, or refuses it while stopping; both must
  // end.
  GetNode(web1_);
  control_.Stop();
  EXPECT_FALSE(waiting.get().ok());
  EXPECT_FALSE(node.Finish().ok());
  control_.Start();
}

TEST_F(ControlNodes, WhatWasAcknowledgedIsThereAfterKill9AndTheNodeGoesOn) {
  const EnrolledNode enrolled = EnrollNode(web1_);
  const std::string token = control_.token();
  const std::string ca = control_.ca();
  std::int64_t last = 0;
  for (int i = 0; i < 20; ++i) {
    last = CreateSite("s" + std::to_string(i));
  }
  std::string said;
  EXPECT_NE(control_.RunSecond(said), 0);
  EXPECT_NE(said.find("another croft-control"), std::string::npos) << said;
  {
    FakeNode before(control_, enrolled);
    before.Hello();
    ASSERT_TRUE(before.ReadUntil(last));
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (GetNode(web1_).status().connection() != v1::NodeStatus::CONNECTED) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    }
    control_.Kill();
  }
  control_.Start();
  EXPECT_EQ(control_.token(), token);
  EXPECT_EQ(control_.ca(), ca);
  Reconnect();
  v1::ListSitesResponse sites;
  ASSERT_TRUE(client_
                  ->Call<v1::ListSitesRequest>("croft.v1.SiteService/ListSites",
                                               "parent: '" + farm_ + "'", sites)
                  .ok());
  EXPECT_EQ(sites.sites_size(), 20);
  EXPECT_EQ(GetNode(web1_).status().connection(), v1::NodeStatus::LOST);
  FakeNode node(control_, enrolled);
  node.Hello();
  EXPECT_TRUE(node.ReadUntil(last));
}

}  // namespace
}  // namespace croft::tests
