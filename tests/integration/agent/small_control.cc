#include "tests/integration/agent/small_control.h"

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <condition_variable>
#include <limits>
#include <map>
#include <mutex>
#include <thread>
#include <tuple>

#include "control/identity/certificates.h"
#include "croft/node/v1/feed.grpc.pb.h"

namespace croft::node::agent {

namespace identity = croft::control::identity;
using std::chrono::milliseconds;

bool Eventually(const std::function<bool()>& holds) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > deadline) {
      return false;
    }
    std::this_thread::sleep_for(milliseconds(10));
  }
  return true;
}

struct SmallControl::State {
  mutable std::mutex mutex;
  std::condition_variable wake;

  // Constant after construction.
  identity::CertifiedKey authority;
  identity::CertifiedKey server_key;

  // Guarded by mutex.
  bool stopping = false;
  std::map<std::pair<int, std::int64_t>, v1::Record> records;
  std::int64_t revision = 0;
  std::uint64_t epoch = 77;
  bool knows_history = true;
  croft::v1::VanishingSites accepted, vanishing;
  std::int64_t enrolments = 0, applied = 0, serving = 0, hellos = 0;
  std::string problem;
  std::vector<std::string> missing;
  std::vector<v1::RecordResult> refused;
  std::vector<v1::EventReport> events;
  std::map<std::tuple<std::uint64_t, std::uint32_t, std::int64_t>, std::vector<std::int64_t>>
      counters;

  int port = 0;
  std::unique_ptr<Services> services;
  std::unique_ptr<grpc::Server> server;
};

class SmallControl::Services final {
 public:
  explicit Services(State& state) : enrolment(state), feed(state) {}

  class Enrolment final : public v1::Enrollment::Service {
   public:
    explicit Enrolment(State& state) : state_(state) {}
    grpc::Status Enroll(grpc::ServerContext*, const v1::EnrollRequest* request,
                        v1::EnrollResponse* response) override {
      if (request->token() != "join-me") {
        return {grpc::StatusCode::UNAUTHENTICATED, "unknown join token"};
      }
      const auto key = identity::ParseSigningRequest(request->certificate_request());
      if (!key.ok()) {
        return {grpc::StatusCode::INVALID_ARGUMENT, std::string(key.status().message())};
      }
      response->set_node("farms/main/nodes/web1");
      response->set_ca(state_.authority.certificate);
      response->set_certificate(
          *identity::IssueNodeCertificate(state_.authority, {.name = response->node(), .uid = 1},
                                          *key, std::chrono::system_clock::now()));
      const std::lock_guard lock(state_.mutex);
      state_.enrolments += 1;
      return grpc::Status::OK;
    }

   private:
    State& state_;
  };

  class NodeFeed final : public v1::NodeFeed::Service {
   public:
    using Stream = grpc::ServerReaderWriter<v1::ControlMessage, v1::NodeMessage>;
    explicit NodeFeed(State& state) : state_(state) {}

    grpc::Status Connect(grpc::ServerContext* context, Stream* stream) override {
      if (context->auth_context()->GetPeerIdentity().empty()) {
        return {grpc::StatusCode::UNAUTHENTICATED, "no client certificate"};
      }
      v1::NodeMessage first;
      if (!stream->Read(&first) || !first.has_hello()) {
        return {grpc::StatusCode::INVALID_ARGUMENT, "hello comes first"};
      }
      const v1::ControlMessage welcome = Meet(first.hello());
      const bool empty = welcome.welcome().mode() == v1::Welcome::SNAPSHOT;
      stream->Write(welcome);
      bool open = true;
      std::jthread reader([&] {
        v1::NodeMessage message;
        while (stream->Read(&message)) {
          Note(message);
        }
        const std::lock_guard lock(state_.mutex);
        open = false;
        state_.wake.notify_all();
      });
      Feed(*stream, empty ? SendSnapshot(*stream) : first.hello().position(), open);
      context->TryCancel();
      return grpc::Status::OK;
    }

   private:
    // Notes the hello; returns the welcome.
    v1::ControlMessage Meet(const v1::Hello& hello) {
      const std::lock_guard lock(state_.mutex);
      state_.hellos += 1;
      state_.vanishing = hello.vanishing();
      const bool empty = hello.position().epoch() != state_.epoch;
      v1::ControlMessage message;
      v1::Welcome& welcome = *message.mutable_welcome();
      welcome.set_mode(empty ? v1::Welcome::SNAPSHOT : v1::Welcome::DELTA);
      welcome.set_epoch(state_.epoch);
      welcome.set_report_interval_ms(100);
      welcome.set_known_history(state_.knows_history);
      *welcome.mutable_accepted_vanishing() = state_.accepted;
      return message;
    }

    // REQUIRES: mutex is held.
    v1::Position PositionOf(std::int64_t revision) {
      v1::Position position;
      position.set_epoch(state_.epoch);
      position.set_revision(revision);
      position.set_tag(static_cast<std::uint64_t>(revision) + 1000);
      return position;
    }

    // Every type as one range, then an empty delta, which makes it a consistent revision.
    v1::Position SendSnapshot(Stream& stream) {
      std::unique_lock lock(state_.mutex);
      const v1::Position start = PositionOf(state_.revision);
      const auto records = state_.records;
      lock.unlock();
      for (int type = v1::PLATFORM; type <= v1::ACCOUNT; ++type) {
        v1::ControlMessage message;
        v1::SnapshotRange& range = *message.mutable_batch()->mutable_range();
        range.set_type(static_cast<v1::RecordType>(type));
        range.set_through(std::numeric_limits<std::int64_t>::max());
        *range.mutable_start() = start;
        *range.mutable_seen() = start;
        for (const auto& [key, record] : records) {
          if (record.type() == type && !record.deleted()) {
            *message.mutable_batch()->add_records() = record;
          }
        }
        stream.Write(message);
      }
      SendDelta(stream, start, start, {});
      return start;
    }

    static void SendDelta(Stream& stream, const v1::Position& since, const v1::Position& position,
                          const std::vector<v1::Record>& records) {
      v1::ControlMessage message;
      v1::Batch& batch = *message.mutable_batch();
      batch.mutable_records()->Add(records.begin(), records.end());
      *batch.mutable_since() = since;
      *batch.mutable_position() = position;
      batch.set_cut(true);
      stream.Write(message);
    }

    // Sends what the node lacks, delta by delta, until the stream ends or control stops.
    void Feed(Stream& stream, v1::Position position, const bool& open) {
      std::unique_lock lock(state_.mutex);
      while (open && !state_.stopping && position.epoch() == state_.epoch) {
        if (state_.revision == position.revision()) {
          state_.wake.wait_for(lock, milliseconds(100));
          continue;
        }
        std::vector<v1::Record> records;
        for (const auto& [key, record] : state_.records) {
          if (record.revision() > position.revision()) {
            records.push_back(record);
          }
        }
        const v1::Position next = PositionOf(state_.revision);
        lock.unlock();
        SendDelta(stream, position, next, records);
        position = next;
        lock.lock();
      }
    }

    void Note(const v1::NodeMessage& message) {
      const std::lock_guard lock(state_.mutex);
      if (message.has_ack()) {
        state_.applied = message.ack().position().revision();
        state_.refused.insert(state_.refused.end(), message.ack().refused().begin(),
                              message.ack().refused().end());
      } else if (message.has_marks()) {
        state_.serving = message.marks().serving_revision();
        state_.problem = message.marks().problem();
        state_.vanishing = message.marks().vanishing();
        state_.missing.clear();
        for (const croft::v1::MissingEndpoint& endpoint : message.marks().missing_endpoints()) {
          state_.missing.push_back(endpoint.ip() + ":" + std::to_string(endpoint.port()));
        }
      } else if (message.has_event()) {
        state_.events.push_back(message.event());
      } else if (message.has_counters()) {
        for (const v1::CounterInstance& instance : message.counters().instances()) {
          state_.counters[{message.counters().boot_id(), instance.type(), instance.uid()}] = {
              instance.values().begin(), instance.values().end()};
        }
      }
    }

    State& state_;
  };

  Enrolment enrolment;
  NodeFeed feed;
};

SmallControl::SmallControl() : state_(std::make_unique<State>()) {
  const auto now = std::chrono::system_clock::now();
  const std::vector<std::string> hosts{"127.0.0.1"};
  state_->authority = *identity::MakeAuthority(now);
  state_->server_key = *identity::IssueServerCertificate(state_->authority, hosts, now);
}

SmallControl::~SmallControl() { Stop(); }

void SmallControl::Start() {
  grpc::SslServerCredentialsOptions tls(GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_AND_VERIFY);
  tls.pem_root_certs = state_->authority.certificate;
  tls.pem_key_cert_pairs.push_back(
      {.private_key = state_->server_key.key, .cert_chain = state_->server_key.certificate});
  state_->stopping = false;
  state_->services = std::make_unique<Services>(*state_);
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:" + std::to_string(state_->port),
                           grpc::SslServerCredentials(tls), &state_->port);
  builder.RegisterService(&state_->services->enrolment);
  builder.RegisterService(&state_->services->feed);
  state_->server = builder.BuildAndStart();
}

void SmallControl::Stop() {
  if (state_->server == nullptr) {
    return;
  }
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
  }
  state_->wake.notify_all();
  state_->server->Shutdown(std::chrono::system_clock::now());
  state_->server.reset();
}

std::string SmallControl::address() const { return "127.0.0.1:" + std::to_string(state_->port); }

const std::string& SmallControl::ca() const { return state_->authority.certificate; }

void SmallControl::BeginAnotherHistory() {
  const std::lock_guard lock(state_->mutex);
  state_->epoch += 1;
  state_->knows_history = false;
  state_->records.clear();
  state_->revision = 0;
  state_->wake.notify_all();
}

void SmallControl::Accept(const croft::v1::VanishingSites& vanishing) {
  const std::lock_guard lock(state_->mutex);
  state_->accepted = vanishing;
}

std::int64_t SmallControl::Put(v1::RecordType type, std::int64_t uid,
                               const google::protobuf::Message* body) {
  const std::lock_guard lock(state_->mutex);
  v1::Record record;
  record.set_type(type);
  record.set_uid(uid);
  record.set_revision(++state_->revision);
  record.set_deleted(body == nullptr);
  if (body != nullptr) {
    record.set_body(body->SerializeAsString());
  }
  state_->records[{type, uid}] = record;
  state_->wake.notify_all();
  return record.revision();
}

std::int64_t SmallControl::enrolments() const {
  const std::lock_guard lock(state_->mutex);
  return state_->enrolments;
}
std::int64_t SmallControl::applied() const {
  const std::lock_guard lock(state_->mutex);
  return state_->applied;
}
std::int64_t SmallControl::serving() const {
  const std::lock_guard lock(state_->mutex);
  return state_->serving;
}
std::string SmallControl::problem() const {
  const std::lock_guard lock(state_->mutex);
  return state_->problem;
}
std::vector<std::string> SmallControl::missing_endpoints() const {
  const std::lock_guard lock(state_->mutex);
  return state_->missing;
}
croft::v1::VanishingSites SmallControl::vanishing() const {
  const std::lock_guard lock(state_->mutex);
  return state_->vanishing;
}
std::int64_t SmallControl::hellos() const {
  const std::lock_guard lock(state_->mutex);
  return state_->hellos;
}
std::vector<v1::RecordResult> SmallControl::refused() const {
  const std::lock_guard lock(state_->mutex);
  return state_->refused;
}

bool SmallControl::HasEvent(const std::string& kind) const {
  const std::lock_guard lock(state_->mutex);
  for (const v1::EventReport& event : state_->events) {
    if (event.kind() == kind) {
      return true;
    }
  }
  return false;
}

std::int64_t SmallControl::Counter(std::uint32_t type, std::uint32_t counter) const {
  const std::lock_guard lock(state_->mutex);
  std::int64_t sum = 0;
  for (const auto& [key, values] : state_->counters) {
    if (std::get<1>(key) == type && counter < values.size()) {
      sum += values[counter];
    }
  }
  return sum;
}

}  // namespace croft::node::agent
