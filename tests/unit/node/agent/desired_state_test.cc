#include "node/agent/desired_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "croft/v1/node.pb.h"
#include "croft/v1/site.pb.h"
#include "node/replica/writer.h"

namespace croft::node::agent {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string Prefix(const std::string& ip, std::uint16_t port) {
  return contract::EncodeBindingKey({.port = port, .ip = *contract::ParseIp(ip), .host = ""});
}

std::vector<std::string> Plan(const std::vector<std::string>& prefixes,
                              const std::vector<std::string>& addresses,
                              const std::string& local = "192.0.2.1") {
  std::vector<std::string> planned;
  const auto is_local = [&](const contract::IpBytes& ip) {
    return ip == *contract::ParseIp(local);
  };
  for (const EndpointKey& key : PlanEndpoints(prefixes, addresses, is_local)) {
    planned.push_back(key.ip + " " + std::to_string(key.port));
  }
  return planned;
}

TEST(PlanEndpoints, OpensAnyBindingOnBothFamilies) {
  EXPECT_THAT(Plan({Prefix("*", 80)}, {"*"}), ElementsAre("0.0.0.0 80", ":: 80"));
}

TEST(PlanEndpoints, OpensAnyBindingOnEachConfiguredAddress) {
  EXPECT_THAT(Plan({Prefix("*", 80)}, {"127.0.0.2", "::1"}), ElementsAre("127.0.0.2 80", "::1 80"));
}

TEST(PlanEndpoints, OpensAnAddressOnlyWhereItIsLocalOrConfigured) {
  EXPECT_THAT(Plan({Prefix("192.0.2.1", 80)}, {"*"}), ElementsAre("192.0.2.1 80"));
  EXPECT_THAT(Plan({Prefix("192.0.2.9", 80)}, {"*"}), IsEmpty());
  EXPECT_THAT(Plan({Prefix("192.0.2.9", 80)}, {"192.0.2.9"}), ElementsAre("192.0.2.9 80"));
}

TEST(BindingIpsOf, NamesWhatBindingsSay) {
  const std::vector<std::string> any{"*"};
  EXPECT_THAT(BindingIpsOf({"0.0.0.0", 80}, any), ElementsAre("*"));
  EXPECT_THAT(BindingIpsOf({"::", 80}, any), ElementsAre("*"));
  EXPECT_THAT(BindingIpsOf({"192.0.2.1", 80}, any), ElementsAre("192.0.2.1"));
  EXPECT_THAT(BindingIpsOf({"192.0.2.1", 80}, {"192.0.2.1"}), ElementsAre("*", "192.0.2.1"));
}

TEST(PlanEndpoints, IgnoresWhatIsNoEndpoint) {
  EXPECT_THAT(Plan({"", "x", std::string(40, 'x')}, {"*"}), IsEmpty());
}

TEST(LocalAddresses, HaveTheLoopback) {
  EXPECT_TRUE(ReadLocalAddresses().contains(*contract::ParseIp("127.0.0.1")));
}

class DesiredStateTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/croft-desired-XXXXXX";
    directory_ = ::mkdtemp(name);
    writer_ = *replica::Writer::Open(directory_);
    reader_ = *replica::Reader::Open(directory_);
  }
  void TearDown() override {
    reader_.reset();
    writer_.reset();
    std::filesystem::remove_all(directory_);
  }

  v1::RecordKey Put(v1::RecordType type, std::int64_t uid, const std::string& body,
                    bool deleted = false) {
    v1::Record record;
    record.set_type(type);
    record.set_uid(uid);
    record.set_revision(++revision_);
    record.set_deleted(deleted);
    record.set_body(body);
    auto transaction = *writer_->Begin();
    EXPECT_TRUE(transaction->Apply(record, false).ok());
    EXPECT_TRUE(transaction->Commit().ok());
    v1::RecordKey key;
    key.set_type(type);
    key.set_uid(uid);
    return key;
  }
  v1::RecordKey PutPool(std::int64_t uid, std::int64_t queue_length) {
    croft::v1::ApplicationPool pool;
    pool.set_name("farms/main/pools/p" + std::to_string(uid));
    pool.set_queue_length(queue_length);
    return Put(v1::POOL, uid, pool.SerializeAsString());
  }
  std::set<std::int64_t> Update(std::vector<v1::RecordKey> keys) {
    std::set<std::int64_t> changed;
    EXPECT_TRUE(state_.Update(*reader_, keys, changed).ok());
    return changed;
  }

  std::string directory_;
  std::int64_t revision_ = 0;
  std::unique_ptr<replica::Writer> writer_;
  std::unique_ptr<replica::Reader> reader_;
  DesiredState state_{{"*"}, "farms/main/nodes/web1"};
};

TEST_F(DesiredStateTest, LoadsPoolsEndpointsAndWhetherTheNodeDrains) {
  PutPool(3, 500);
  croft::v1::Node node;
  node.set_name("farms/main/nodes/web1");
  node.set_draining(true);
  Put(v1::NODE, 9, node.SerializeAsString());
  croft::v1::Site site;
  site.set_name("farms/main/sites/a");
  site.add_bindings()->set_ip("*");
  site.mutable_bindings(0)->set_port(8080);
  Put(v1::SITE, 4, site.SerializeAsString());

  ASSERT_TRUE(state_.Load(*reader_).ok());
  ASSERT_TRUE(state_.pools().contains(3));
  EXPECT_EQ(state_.pools().at(3).queue_length, 500);
  EXPECT_TRUE(state_.draining());
  EXPECT_EQ(state_.endpoints(), (std::set<EndpointKey>{{"0.0.0.0", 8080}, {"::", 8080}}));
}

TEST_F(DesiredStateTest, FollowsChangesKeyByKey) {
  ASSERT_TRUE(state_.Load(*reader_).ok());
  const v1::RecordKey pool = PutPool(3, 500);
  EXPECT_THAT(Update({pool}), ElementsAre(3));
  EXPECT_THAT(Update({pool}), IsEmpty());
  PutPool(3, 600);
  EXPECT_THAT(Update({pool}), ElementsAre(3));
  EXPECT_EQ(state_.pools().at(3).queue_length, 600);
  Put(v1::POOL, 3, "", /*deleted=*/true);
  EXPECT_THAT(Update({pool}), ElementsAre(3));
  EXPECT_THAT(state_.pools(), IsEmpty());
}

}  // namespace
}  // namespace croft::node::agent
