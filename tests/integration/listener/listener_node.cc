#include "tests/integration/listener/listener_node.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "node/link/inherited_fds.h"
#include "node/replica/generations.h"
#include "proto/base/check.h"
#include "tests/integration/listener/visitor.h"

namespace croft::node::listener::test {
namespace {

constexpr std::uint64_t kEpoch = 11;

croft::v1::Root StoreRoot() {
  croft::v1::Root root;
  root.set_store("farms/main/stores/content");
  root.set_path("site");
  return root;
}

}  // namespace

ListenerNode::ListenerNode(const croft::v1::Settings& platform, unsigned loops) : loops_(loops) {
  Check(std::getenv("CROFT_BIN") != nullptr, "set CROFT_BIN to the directory of the programs");
  std::string name = "/tmp/croft-listener-test.XXXXXX";
  Check(::mkdtemp(name.data()) != nullptr, "no directory for the test");
  directory_ = name;
  for (const char* sub : {"/log", "/w", "/replica", "/content", "/content/site"}) {
    std::filesystem::create_directory(directory_ + sub);
  }
  auto generations = replica::Generations::Open(directory_ + "/replica");
  Check(generations.ok(), "no replica");
  replica_path_ = generations->current();
  writer_ = *replica::Writer::Open(replica_path_, {.sync = false});
  WriteFirstRecords(platform);

  auto pair = link::Channel::MakePair();
  auto memory = counters::CounterMemory::Create();
  Check(pair.ok() && memory.ok(), "no channel or memory");
  counters_ = *counters::CounterMemory::Map(memory->get(), true);
  channel_ = std::make_unique<link::Channel>(std::move(pair->first));
  Spawn(pair->second.get(), memory->get());

  SendSetup();
  BindSockets(port_, sockets_, loops);
  BindSockets(health_port_, health_sockets_, 1);
  SendSockets(port_, false, sockets_);
  SendSockets(health_port_, true, health_sockets_);
  Check(Expect(v1::ListenerToAgent::kReady).has_value(), "the listener is not ready");
}

ListenerNode::~ListenerNode() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  writer_.reset();
  std::filesystem::remove_all(directory_);
}

std::string ListenerNode::SocketPath(std::uint64_t process_id) const {
  return directory_ + "/w/" + std::to_string(process_id) + ".sock";
}

void ListenerNode::WriteFirstRecords(const croft::v1::Settings& platform) {
  croft::v1::Platform root;
  root.set_name("platform");
  root.set_uid(1);
  *root.mutable_settings() = platform;
  croft::v1::Farm farm;
  farm.set_name("farms/main");
  farm.set_uid(2);
  croft::v1::FileStore store;
  store.set_name("farms/main/stores/content");
  store.set_uid(3);
  store.set_path(directory_ + "/content");
  croft::v1::ApplicationPool pool;
  pool.set_name("farms/main/pools/web");
  pool.set_uid(kPool);
  auto transaction = *writer_->Begin();
  v1::Position position;
  position.set_epoch(kEpoch);
  position.set_revision(++revision_);
  for (v1::Record record : {MakeRecord(v1::PLATFORM, root), MakeRecord(v1::FARM, farm),
                            MakeRecord(v1::STORE, store), MakeRecord(v1::POOL, pool)}) {
    record.set_revision(revision_);
    Check(transaction->Apply(record, false).ok(), "a first record was refused");
  }
  Check(transaction->SetPosition(position).ok() && transaction->Commit().ok(), "no commit");
}

void ListenerNode::Spawn(int channel, int memory) {
  const std::string program = std::string(std::getenv("CROFT_BIN")) + "/croft-listener";
  // Copies above the fixed numbers, so that placing one cannot overwrite the other.
  const UniqueFd channel_copy(::fcntl(channel, F_DUPFD_CLOEXEC, 10));
  const UniqueFd memory_copy(::fcntl(memory, F_DUPFD_CLOEXEC, 10));
  pid_ = ::fork();
  if (pid_ == 0) {
    ::dup2(channel_copy.get(), link::kControlChannelFd);
    ::dup2(memory_copy.get(), link::kCounterMemoryFd);
    ::execl(program.c_str(), program.c_str(), nullptr);
    ::_exit(127);
  }
}

UniqueFd ListenerNode::Bind(std::uint16_t& port) const {
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
  Check(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
            ::listen(socket.get(), 2048) == 0,
        "cannot listen");
  socklen_t size = sizeof address;
  ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size);
  port = ntohs(address.sin_port);
  return socket;
}

void ListenerNode::SendSetup() {
  v1::AgentToListener setup;
  setup.mutable_setup()->set_replica_path(replica_path_);
  setup.mutable_setup()->set_log_path(directory_ + "/log");
  setup.mutable_setup()->set_node_name("web1");
  setup.mutable_setup()->set_loops(loops_);
  Send(setup);
}

void ListenerNode::BindSockets(std::uint16_t& port, std::vector<UniqueFd>& sockets,
                               unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    sockets.push_back(Bind(port));
  }
}

void ListenerNode::SendSockets(std::uint16_t port, bool health,
                               const std::vector<UniqueFd>& sockets) {
  std::vector<int> descriptors;
  for (const UniqueFd& socket : sockets) {
    descriptors.push_back(socket.get());
  }
  v1::AgentToListener message;
  message.mutable_endpoint()->set_ip("127.0.0.1");
  message.mutable_endpoint()->set_port(port);
  message.mutable_endpoint()->set_health(health);
  Send(message, descriptors);
}

void ListenerNode::SayEverythingAgain() {
  SendSetup();
  SendSockets(port_, false, sockets_);
  SendSockets(health_port_, true, health_sockets_);
  v1::AgentToListener message;
  message.mutable_replica_changed()->mutable_position()->set_epoch(kEpoch);
  message.mutable_replica_changed()->mutable_position()->set_revision(revision_);
  message.mutable_replica_changed()->set_all(true);
  message.mutable_replica_changed()->set_replica_path(replica_path_);
  Send(message);
}

void ListenerNode::CloseEndpoint() {
  sockets_.clear();
  v1::AgentToListener message;
  message.mutable_endpoint()->set_ip("127.0.0.1");
  message.mutable_endpoint()->set_port(port_);
  message.mutable_endpoint()->set_closed(true);
  Send(message);
}

void ListenerNode::Send(const v1::AgentToListener& message, const std::vector<int>& descriptors) {
  Eventually([&] { return channel_->Send(message, descriptors).ok(); });
}

std::optional<v1::ListenerToAgent> ListenerNode::Expect(v1::ListenerToAgent::MessageCase kind,
                                                        std::chrono::milliseconds limit) {
  std::optional<v1::ListenerToAgent> found;
  Eventually(
      [&] {
        for (auto received = channel_->Receive(); received.ok() && received->has_value();
             received = channel_->Receive()) {
          v1::ListenerToAgent message;
          Check(link::ParseMessage((*received)->bytes, message).ok(), "no message");
          kept_.push_back(message);
        }
        for (auto i = kept_.begin(); i != kept_.end(); ++i) {
          if (i->message_case() == kind) {
            found = *i;
            kept_.erase(i);
            return true;
          }
        }
        return false;
      },
      limit);
  return found;
}

void ListenerNode::Put(std::vector<v1::Record> records) {
  auto transaction = *writer_->Begin();
  v1::AgentToListener message;
  v1::ReplicaChanged& changed = *message.mutable_replica_changed();
  changed.mutable_position()->set_epoch(kEpoch);
  changed.mutable_position()->set_revision(++revision_);
  for (v1::Record& record : records) {
    record.set_revision(revision_);
    Check(transaction->Apply(record, false).ok(), "a record was refused");
    v1::RecordKey& key = *changed.add_keys();
    key.set_type(record.type());
    key.set_uid(record.uid());
  }
  Check(transaction->SetPosition(changed.position()).ok() && transaction->Commit().ok(),
        "no commit");
  Send(message);
  const auto served = Expect(v1::ListenerToAgent::kServed);
  Check(served && served->served().position().revision() == revision_, "not served");
}

void ListenerNode::PutSite(std::int64_t uid, const std::string& name,
                           const std::function<void(croft::v1::Site&)>& change) {
  croft::v1::Site site;
  site.set_name("farms/main/sites/" + name);
  site.set_uid(uid);
  croft::v1::Binding& binding = *site.add_bindings();
  binding.set_protocol(croft::v1::HTTP);
  binding.set_ip("*");
  binding.set_port(port_);
  binding.set_host(name + ".example");
  croft::v1::Application& application = *site.add_applications();
  application.set_path("/");
  application.set_pool("farms/main/pools/web");
  *application.mutable_root() = StoreRoot();
  if (change) {
    change(site);
  }
  Put({MakeRecord(v1::SITE, site)});
}

void ListenerNode::SendPool(const std::function<void(v1::PoolUpdate&)>& change) {
  v1::AgentToListener message;
  v1::PoolUpdate& pool = *message.mutable_pool();
  pool.set_pool_uid(kPool);
  pool.set_started(true);
  pool.set_queue_length(1000);
  pool.set_max_concurrent_requests(256);
  change(pool);
  Send(message);
}

void ListenerNode::SetWorkers(const std::vector<std::uint64_t>& process_ids) {
  SendPool([&](v1::PoolUpdate& pool) {
    for (const std::uint64_t process_id : process_ids) {
      v1::PoolWorker& worker = *pool.add_workers();
      worker.set_process_id(process_id);
      worker.set_socket_path(SocketPath(process_id));
    }
  });
}

std::string ListenerNode::ReadLog(const std::string& name) const {
  std::ifstream file(directory_ + "/log/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

bool ListenerNode::LogHas(const std::string& name, const std::string& text) const {
  return Eventually([&] { return ReadLog(name).find(text) != std::string::npos; });
}

void ListenerNode::Signal(int number) const { ::kill(pid_, number); }

int ListenerNode::Stop() {
  ::kill(pid_, SIGTERM);
  int status = -1;
  const bool ended = Eventually([&] { return ::waitpid(pid_, &status, WNOHANG) == pid_; },
                                std::chrono::seconds(15));
  if (!ended) {
    return -1;
  }
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace croft::node::listener::test
