#include "control/api/node_methods.h"

#include <chrono>
#include <map>

#include "control/domain/failures.h"
#include "control/feed/feed.h"
#include "control/identity/certificates.h"
#include "control/identity/tokens.h"
#include "croft/node/v1/feed.pb.h"
#include "croft/v1/node.pb.h"
#include "croft/v1/report.pb.h"
#include "proto/base/error.h"
#include "proto/base/log.h"
#include "proto/contract/resource_name.h"

namespace croft::control::api {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kJoinTokenLife{std::chrono::hours(1)};
constexpr milliseconds kJoinTokenLifeMost{std::chrono::hours(24 * 7)};

google::protobuf::Timestamp ToTimestamp(std::chrono::system_clock::time_point time) {
  const std::int64_t millis = UnixMillis(time);
  google::protobuf::Timestamp made;
  made.set_seconds(millis / 1000);
  made.set_nanos(static_cast<std::int32_t>(millis % 1000) * 1'000'000);
  return made;
}

// A token for a node that is there lets another machine become it: as much as making one.
absl::Status CreateNodeIfAbsent(const NodeParts& parts, const domain::Caller& caller,
                                const contract::ResourceName& name) {
  const auto found = parts.store.Find(contract::FormatResourceName(name));
  if (!found.ok()) {
    return found.status();
  }
  if (found->has_value()) {
    return parts.resources.access().CheckWrite(caller, **found, domain::Action::kUpdate);
  }
  domain::WriteOptions options;
  options.reason = "join token";
  const auto created =
      parts.resources.Create(caller, "farms/" + name.farm, name.id, v1::Node(), options);
  return absl::IsAlreadyExists(created.status()) ? absl::OkStatus() : created.status();
}

absl::StatusOr<v1::JoinToken> CreateJoinToken(const NodeParts& parts, const domain::Caller& caller,
                                              const v1::CreateJoinTokenRequest& request) {
  const auto name = contract::ParseResourceName(request.node(), contract::ResourceType::kNode);
  if (!name.ok()) {
    return name.status();
  }
  const milliseconds life =
      request.lifetime() == 0 ? kJoinTokenLife : milliseconds(request.lifetime());
  if (life < milliseconds(0) || life > kJoinTokenLifeMost) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "lifetime of a join token is at most 7 days (168h); ask for a shorter one");
  }
  if (absl::Status status = CreateNodeIfAbsent(parts, caller, *name); !status.ok()) {
    return status;
  }
  const std::string token = identity::MakeJoinToken();
  const auto expires = parts.clock.Now() + life;
  const absl::Status inserted = parts.store.InsertJoinToken(
      identity::HashToken(token), contract::FormatResourceName(*name), expires);
  if (!inserted.ok()) {
    return inserted;
  }
  v1::JoinToken made;
  made.set_token(token);
  *made.mutable_expire_time() = ToTimestamp(expires);
  return made;
}

absl::StatusOr<node::v1::EnrollResponse> Enroll(const NodeParts& parts,
                                                const node::v1::EnrollRequest& request) {
  // The request is judged first, so that a bad one does not use the token up.
  const auto public_key = identity::ParseSigningRequest(request.certificate_request());
  if (!public_key.ok()) {
    return public_key.status();
  }
  const auto node =
      parts.store.TakeJoinToken(identity::HashToken(request.token()), parts.clock.Now());
  if (absl::IsNotFound(node.status())) {
    return Error(
        absl::StatusCode::kUnauthenticated,
        "the join token is unknown, expired or used; make another one (croft enroll node)");
  }
  if (!node.ok()) {
    return node.status();
  }
  const auto found = parts.store.Find(*node);
  if (!found.ok()) {
    return found.status();
  }
  if (!found->has_value()) {
    return Error(absl::StatusCode::kNotFound, "{} was deleted since the join token was made",
                 *node);
  }
  const auto certificate =
      parts.authority.IssueNode({.name = *node, .uid = (*found)->uid}, *public_key);
  if (!certificate.ok()) {
    return certificate.status();
  }
  log::Info("api", "node enrolled", {{"node", *node}});
  node::v1::EnrollResponse response;
  response.set_certificate(*certificate);
  response.set_ca(parts.authority.certificate());
  response.set_node(*node);
  return response;
}

// What the node waits for to be accepted.
absl::StatusOr<v1::VanishingSites> FindVanishing(store::Store& store,
                                                 const store::StoredResource& node) {
  const auto marks = store.ReadMarks(node.farm_uid);
  if (!marks.ok()) {
    return marks.status();
  }
  for (const store::NodeMarks& one : *marks) {
    v1::NodeStatus status;
    if (one.node_uid == node.uid && status.ParseFromString(one.status) && status.has_vanishing()) {
      return status.vanishing();
    }
  }
  return Error(absl::StatusCode::kFailedPrecondition,
               "{} waits for nothing to be accepted; see croft describe node {}", node.name,
               node.name);
}

absl::StatusOr<v1::Node> ResumeNode(const NodeParts& parts, const domain::Caller& caller,
                                    const v1::ResumeNodeRequest& request) {
  const auto name = contract::ParseResourceName(request.name(), contract::ResourceType::kNode);
  if (!name.ok()) {
    return name.status();
  }
  const auto node = parts.store.Find(contract::FormatResourceName(*name));
  if (!node.ok()) {
    return node.status();
  }
  if (!node->has_value()) {
    return domain::NotFound(contract::FormatResourceName(*name));
  }
  if (absl::Status status =
          parts.resources.access().CheckWrite(caller, **node, domain::Action::kUpdate);
      !status.ok()) {
    return status;
  }
  const auto vanishing = FindVanishing(parts.store, **node);
  if (!vanishing.ok()) {
    return vanishing.status();
  }
  if (vanishing->sites() != request.expected_count()) {
    return Error(absl::StatusCode::kFailedPrecondition,
                 "{} of {} sites would vanish from {}, not {}; if that is meant: croft resume node "
                 "{} --expect-count {}",
                 vanishing->sites(), vanishing->held(), (*node)->name, request.expected_count(),
                 (*node)->name, vanishing->sites());
  }
  if (absl::Status status = parts.store.AcceptVanishing((*node)->uid, *vanishing); !status.ok()) {
    return status;
  }
  v1::Event event;
  *event.mutable_time() = ToTimestamp(parts.clock.Now());
  event.set_node((*node)->name);
  event.set_kind("vanishing_accepted");
  event.set_message(fmt::format("{} lets {} of {} sites vanish{}{}", caller.who, vanishing->sites(),
                                vanishing->held(), request.reason().empty() ? "" : ": ",
                                request.reason()));
  log::Warn("api", "sites may vanish from a node",
            {{"node", (*node)->name}, {"message", event.message()}});
  if (const absl::Status status = parts.store.InsertEvents({event}); !status.ok()) {
    log::Error("api", "event not written", {{"err", std::string(status.message())}});
  }
  const auto resumed = parts.resources.Get(caller, contract::ResourceType::kNode, (*node)->name);
  return resumed.ok() ? absl::StatusOr<v1::Node>(static_cast<const v1::Node&>(**resumed))
                      : resumed.status();
}

v1::NodeStatus MakeStatus(const store::NodeMarks& marks,
                          std::chrono::system_clock::time_point now) {
  v1::NodeStatus status;
  status.ParseFromString(marks.status);  // what a newer instance wrote may be more than we know
  status.set_connection(feed::IsConnected(marks, now) ? v1::NodeStatus::CONNECTED
                        : marks.ever_connected        ? v1::NodeStatus::LOST
                                                      : v1::NodeStatus::PENDING);
  if (marks.ever_connected) {
    *status.mutable_last_contact_time() = ToTimestamp(marks.last_contact);
  }
  status.set_sent_revision(marks.sent_revision);
  status.set_applied_revision(marks.applied_revision);
  status.set_serving_revision(marks.serving_revision);
  return status;
}

}  // namespace

void AddNodeMethods(const NodeParts& parts, Methods& methods) {
  methods.AddCustom<v1::CreateJoinTokenRequest>(
      "croft.v1.NodeService.CreateJoinToken", Access::kOperator,
      [parts](const domain::Caller& caller, const v1::CreateJoinTokenRequest& request) {
        return CreateJoinToken(parts, caller, request);
      });
  methods.AddCustom<v1::ResumeNodeRequest>(
      "croft.v1.NodeService.ResumeNode", Access::kOperator,
      [parts](const domain::Caller& caller, const v1::ResumeNodeRequest& request) {
        return ResumeNode(parts, caller, request);
      });
  methods.AddCustom<node::v1::EnrollRequest>(
      "croft.node.v1.Enrollment.Enroll", Access::kAnonymous,
      [parts](const domain::Caller&, const node::v1::EnrollRequest& request) {
        return Enroll(parts, request);
      });
}

Decorate MakeNodeStatusDecorator(store::Store& store, const Clock& clock) {
  return [&store, &clock](std::span<const MessagePtr> resources) -> absl::Status {
    const auto marks = store.ReadMarks(0);
    if (!marks.ok()) {
      return marks.status();
    }
    std::map<std::int64_t, const store::NodeMarks*> by_uid;
    for (const store::NodeMarks& one : *marks) {
      by_uid[one.node_uid] = &one;
    }
    for (const MessagePtr& resource : resources) {
      auto& node = static_cast<v1::Node&>(*resource);
      const auto at = by_uid.find(node.uid());
      *node.mutable_status() =
          MakeStatus(at == by_uid.end() ? store::NodeMarks() : *at->second, clock.Now());
    }
    return absl::OkStatus();
  };
}

}  // namespace croft::control::api
