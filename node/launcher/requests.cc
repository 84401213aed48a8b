#include "node/launcher/requests.h"

#include <signal.h>

#include <utility>

#include "proto/base/error.h"
#include "proto/base/log.h"

namespace croft::node::launcher {
namespace {

using absl::StatusCode;

Reply ProcessReply(const Process& process) {
  Reply reply;
  *reply.message.mutable_process() = process.facts;
  reply.descriptors = {process.agent_end.get(), process.counters.get()};
  return reply;
}

Reply EndpointReply(const EndpointAddress& address, const Endpoints::Sockets& sockets) {
  Reply reply;
  reply.message.mutable_endpoint()->set_ip(address.ip);
  reply.message.mutable_endpoint()->set_port(address.port);
  for (const UniqueFd& socket : sockets) {
    reply.descriptors.push_back(socket.get());
  }
  return reply;
}

}  // namespace

absl::StatusOr<Reply> Requests::Start(const v1::StartProcess& request) {
  const auto process = processes_.Start(request);
  if (!process.ok()) {
    log::Warn(
        "launcher", "could not start a process",
        {{"kind", Programs::NameOf(request.kind() == v1::LISTENER ? v1::LISTENER : v1::WORKER)},
         {"pool", std::to_string(request.pool_uid())},
         {"err", process.status().ToString()}});
    return process.status();
  }
  const v1::Process& facts = (*process)->facts;
  log::Info("launcher", "started",
            {{"program", Programs::NameOf(facts.kind())},
             {"process", std::to_string(facts.process_id())},
             {"child", std::to_string(facts.pid())},
             {"uid", std::to_string(facts.uid())},
             {"pool", std::to_string(facts.pool_uid())}});
  return ProcessReply(**process);
}

absl::StatusOr<Reply> Requests::Kill(const v1::KillProcess& request) {
  if (request.signal() != SIGTERM && request.signal() != SIGKILL) {
    return Error(StatusCode::kInvalidArgument, "signal {}: only SIGTERM and SIGKILL can be sent",
                 request.signal());
  }
  const Process* process = processes_.Find(request.process_id());
  if (process == nullptr) {
    return Error(StatusCode::kNotFound, "no process {}; it has ended, or never was",
                 request.process_id());
  }
  if (::kill(process->facts.pid(), request.signal()) != 0) {
    return ErrnoError("signal process {}", request.process_id());
  }
  return Reply();
}

absl::StatusOr<Reply> Requests::OpenEndpoint(const v1::OpenEndpoint& request) {
  const auto address = ParseEndpoint(request.ip(), request.port());
  if (!address.ok()) {
    return address.status();
  }
  const auto sockets = endpoints_.Open(*address, request.count());
  if (!sockets.ok()) {
    return sockets.status();
  }
  return EndpointReply(*address, **sockets);
}

absl::StatusOr<Reply> Requests::CloseEndpoint(const v1::CloseEndpoint& request) {
  const auto address = ParseEndpoint(request.ip(), request.port());
  if (!address.ok()) {
    return address.status();
  }
  endpoints_.Close(*address);
  return EndpointReply(*address, {});
}

std::vector<Reply> Requests::Inventory() const {
  std::vector<Reply> replies;
  for (const auto& [id, process] : processes_.all()) {
    replies.push_back(ProcessReply(process));
  }
  for (const auto& [address, sockets] : endpoints_.open()) {
    replies.push_back(EndpointReply(address, sockets));
  }
  v1::InventoryEnd& end = *replies.emplace_back().message.mutable_inventory_end();
  end.set_separate_identities(identities_.separate());
  end.set_listener_uid(identities_.Listener().uid);
  return replies;
}

absl::StatusOr<Reply> Requests::AnswerOne(const v1::LauncherRequest& request) {
  switch (request.request_case()) {
    case v1::LauncherRequest::kStart:
      return Start(request.start());
    case v1::LauncherRequest::kKill:
      return Kill(request.kill());
    case v1::LauncherRequest::kOpenEndpoint:
      return OpenEndpoint(request.open_endpoint());
    case v1::LauncherRequest::kCloseEndpoint:
      return CloseEndpoint(request.close_endpoint());
    case v1::LauncherRequest::kGetInventory:
    case v1::LauncherRequest::REQUEST_NOT_SET:
      break;
  }
  return Error(StatusCode::kUnimplemented,
               "this launcher does not know that request; is the agent of a later version?");
}

std::vector<Reply> Requests::Answer(const v1::LauncherRequest& request) {
  std::vector<Reply> replies;
  if (request.request_id() == 0) {
    replies.emplace_back().message.set_error("a request needs an id other than 0");
    return replies;
  }
  if (request.has_get_inventory()) {
    replies = Inventory();
  } else if (auto reply = AnswerOne(request); reply.ok()) {
    replies.push_back(std::move(*reply));
  } else {
    replies.emplace_back().message.set_error(std::string(reply.status().message()));
  }
  for (Reply& reply : replies) {
    reply.message.set_request_id(request.request_id());
  }
  return replies;
}

}  // namespace croft::node::launcher
