#include "node/agent/launcher_client.h"

#include <boost/asio/post.hpp>
#include <utility>

#include "proto/base/error.h"
#include "proto/base/log.h"

namespace croft::node::agent {
namespace {

absl::StatusOr<StartedProcess> ToStartedProcess(const v1::LauncherMessage& message,
                                                std::vector<UniqueFd> descriptors) {
  if (!message.has_process() || descriptors.size() < 2) {
    return Error(absl::StatusCode::kInternal,
                 "the launcher's answer lacks the process or its descriptors");
  }
  return StartedProcess{.process = message.process(),
                        .channel = std::move(descriptors[0]),
                        .counters = std::move(descriptors[1])};
}

}  // namespace

LauncherClient::LauncherClient(boost::asio::io_context& loop, UniqueFd socket, Notices notices)
    : loop_(loop),
      notices_(std::move(notices)),
      channel_(MessageChannel::Open(
          loop, std::move(socket),
          {.on_message = [this](link::Received received) { OnMessage(std::move(received)); },
           .on_closed = [this](const absl::Status& status) { notices_.on_lost(status); },
           .on_writable = nullptr})) {}

LauncherClient::~LauncherClient() { channel_->Close(); }

void LauncherClient::Request(v1::LauncherRequest request, OnAnswer done) {
  request.set_request_id(++last_request_id_);
  if (!channel_->Send(request)) {
    boost::asio::post(loop_, [done = std::move(done)] {
      done(Error(absl::StatusCode::kUnavailable, "the launcher does not take requests"));
    });
    return;
  }
  waiting_.emplace(request.request_id(), std::move(done));
}

void LauncherClient::OnMessage(link::Received received) {
  Answer answer;
  if (const absl::Status status = link::ParseMessage(received.bytes, answer.message);
      !status.ok()) {
    log::Error("agent", "message from the launcher cannot be read", {{"err", status.ToString()}});
    return;
  }
  answer.descriptors = std::move(received.descriptors);
  if (answer.message.request_id() == 0) {
    if (answer.message.has_exited()) {
      notices_.on_exited(answer.message.exited());
    }
    return;
  }
  const auto entry = waiting_.find(answer.message.request_id());
  if (entry == waiting_.end()) {
    return;
  }
  const std::uint64_t id = entry->first;
  OnAnswer done = std::move(entry->second);
  waiting_.erase(entry);
  const bool failed = !answer.message.error().empty();
  const bool finished =
      failed ? done(Error(absl::StatusCode::kFailedPrecondition, "{}", answer.message.error()))
             : done(std::move(answer));
  if (!finished && !failed) {
    waiting_.emplace(id, std::move(done));
  }
}

void LauncherClient::GetInventory(OnInventory done) {
  v1::LauncherRequest request;
  request.mutable_get_inventory();
  auto inventory = std::make_shared<Inventory>();
  Request(std::move(request), [inventory, done = std::move(done)](absl::StatusOr<Answer> answer) {
    if (!answer.ok()) {
      done(answer.status());
      return true;
    }
    const v1::LauncherMessage& message = answer->message;
    if (message.has_process() && message.process().kind() == v1::AGENT) {
      return false;  // this process
    }
    if (message.has_process()) {
      auto process = ToStartedProcess(message, std::move(answer->descriptors));
      if (process.ok()) {
        inventory->processes.push_back(*std::move(process));
      } else {
        log::Warn("agent", "inventory item cannot be adopted",
                  {{"err", process.status().ToString()}});
      }
    } else if (message.has_endpoint()) {
      inventory->endpoints.push_back(message.endpoint());
    } else if (message.has_inventory_end()) {
      inventory->separate_identities = message.inventory_end().separate_identities();
      inventory->listener_uid = message.inventory_end().listener_uid();
      done(std::move(*inventory));
      return true;
    }
    return false;
  });
}

void LauncherClient::StartListener(OnStarted done) {
  v1::LauncherRequest request;
  request.mutable_start()->set_kind(v1::LISTENER);
  StartProcess(std::move(request), std::move(done));
}

void LauncherClient::StartWorker(std::int64_t pool_uid, std::uint32_t identity, OnStarted done) {
  v1::LauncherRequest request;
  request.mutable_start()->set_kind(v1::WORKER);
  request.mutable_start()->set_pool_uid(pool_uid);
  request.mutable_start()->set_identity(identity);
  StartProcess(std::move(request), std::move(done));
}

void LauncherClient::StartProcess(v1::LauncherRequest request, OnStarted done) {
  Request(std::move(request), [done = std::move(done)](absl::StatusOr<Answer> answer) {
    if (answer.ok()) {
      done(ToStartedProcess(answer->message, std::move(answer->descriptors)));
    } else {
      done(answer.status());
    }
    return true;
  });
}

void LauncherClient::Kill(std::uint64_t process_id, int signal) {
  v1::LauncherRequest request;
  request.mutable_kill()->set_process_id(process_id);
  request.mutable_kill()->set_signal(signal);
  Request(std::move(request), [process_id](const absl::StatusOr<Answer>& answer) {
    if (!answer.ok()) {
      log::Warn("agent", "process cannot be killed",
                {{"process", std::to_string(process_id)}, {"err", answer.status().ToString()}});
    }
    return true;
  });
}

void LauncherClient::OpenEndpoint(const std::string& ip, std::uint16_t port, std::uint32_t count,
                                  OnEndpoint done) {
  v1::LauncherRequest request;
  request.mutable_open_endpoint()->set_ip(ip);
  request.mutable_open_endpoint()->set_port(port);
  request.mutable_open_endpoint()->set_count(count);
  Request(std::move(request), [done = std::move(done)](absl::StatusOr<Answer> answer) {
    if (!answer.ok()) {
      done(answer.status());
    } else if (answer->descriptors.empty()) {
      done(Error(absl::StatusCode::kInternal, "the launcher's answer lacks the sockets"));
    } else {
      done(std::move(answer->descriptors));
    }
    return true;
  });
}

void LauncherClient::CloseEndpoint(const std::string& ip, std::uint16_t port) {
  v1::LauncherRequest request;
  request.mutable_close_endpoint()->set_ip(ip);
  request.mutable_close_endpoint()->set_port(port);
  Request(std::move(request), [ip, port](const absl::StatusOr<Answer>& answer) {
    if (!answer.ok()) {
      log::Warn("agent", "endpoint cannot be closed",
                {{"ip", ip}, {"port", std::to_string(port)}, {"err", answer.status().ToString()}});
    }
    return true;
  });
}

}  // namespace croft::node::agent
