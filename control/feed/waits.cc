#include "control/feed/waits.h"

#include <algorithm>
#include <utility>

namespace croft::control::feed {
namespace {

const v1::QuarantinedRecord* FindRefused(const v1::NodeStatus& status, std::int64_t revision) {
  for (const v1::QuarantinedRecord& record : status.quarantine()) {
    if (record.revision() == revision) {
      return &record;
    }
  }
  return nullptr;
}

// More sites in one change than a person writes; the others are not judged.
constexpr int kSitesMax = 1000;

bool IsBoundTo(const v1::Site& site, const v1::MissingEndpoint& endpoint) {
  return std::any_of(site.bindings().begin(), site.bindings().end(), [&](const auto& binding) {
    return binding.ip() == endpoint.ip() && binding.port() == endpoint.port();
  });
}

// Why one of the sites is not served by a node that lacks endpoints; empty if all are.
std::string WhyUnserved(const NodeRow& node, const std::vector<v1::Site>& sites) {
  const std::string& name = node.marks.node;
  const std::string farm = name.substr(0, name.find("nodes/"));  // "farms/main/"
  for (const v1::MissingEndpoint& missing : node.status.missing_endpoints()) {
    for (const v1::Site& site : sites) {
      if (site.name().starts_with(farm) && IsBoundTo(site, missing)) {
        return site.name() + ": " + missing.reason();
      }
    }
  }
  return "";
}

// Whether what the revision's sites are decides anything.
bool LacksEndpoints(const v1::WaitForRevisionRequest& request, const std::vector<NodeRow>& nodes) {
  return request.level() == v1::SERVING &&
         std::any_of(nodes.begin(), nodes.end(), [](const NodeRow& node) {
           return node.marks.connected && node.status.missing_endpoints_size() > 0;
         });
}

bool IsRefused(const v1::WaitForRevisionResponse& response) {
  for (const v1::NodeProgress& node : response.nodes()) {
    if (node.outcome() == v1::NodeProgress::REFUSED) {
      return true;
    }
  }
  return false;
}

}  // namespace

v1::WaitForRevisionResponse JudgeProgress(const v1::WaitForRevisionRequest& request,
                                          const std::vector<NodeRow>& nodes,
                                          const std::vector<v1::Site>& sites) {
  v1::WaitForRevisionResponse response;
  response.set_reached(true);
  if (request.level() == v1::ACCEPTED || request.level() == v1::WAIT_LEVEL_UNSPECIFIED) {
    return response;
  }
  for (const NodeRow& node : nodes) {
    v1::NodeProgress& progress = *response.add_nodes();
    progress.set_node(node.marks.node);
    progress.set_revision(request.level() == v1::SERVING ? node.marks.serving_revision
                                                         : node.marks.applied_revision);
    const v1::QuarantinedRecord* refused = node.marks.applied_revision >= request.revision()
                                               ? FindRefused(node.status, request.revision())
                                               : nullptr;
    const bool there = progress.revision() >= request.revision();
    const std::string unserved = there ? WhyUnserved(node, sites) : "";
    if (!node.marks.connected) {
      progress.set_outcome(v1::NodeProgress::NOT_CONNECTED);
    } else if (node.marks.draining) {
      progress.set_outcome(v1::NodeProgress::NODE_DRAINING);
    } else if (refused != nullptr) {
      progress.set_outcome(v1::NodeProgress::REFUSED);
      progress.set_reason(refused->resource() + ": " + refused->reason());
      response.set_reached(false);
    } else if (!unserved.empty()) {
      progress.set_outcome(v1::NodeProgress::REFUSED);
      progress.set_reason(unserved);
      response.set_reached(false);
    } else if (there) {
      progress.set_outcome(v1::NodeProgress::REACHED);
    } else {
      progress.set_outcome(v1::NodeProgress::BEHIND);
      progress.set_reason(node.status.problem());
      response.set_reached(false);
    }
  }
  return response;
}

absl::StatusOr<v1::WaitForRevisionResponse> Waits::Judge(PendingWait& wait, NodeMarksBook& marks) {
  const auto nodes = marks.List(wait.farm_uid);
  if (!nodes.ok()) {
    return nodes.status();
  }
  if (!wait.sites.has_value() && LacksEndpoints(wait.request, *nodes)) {
    const auto rows =
        store_.ListWritten(wait.request.revision(), store::ResourceType::kSite, kSitesMax);
    if (!rows.ok()) {
      return rows.status();
    }
    wait.sites.emplace();
    for (const store::StoredResource& row : *rows) {
      v1::Site site;
      if (site.ParseFromString(row.body) && site.state() != v1::STOPPED) {
        wait.sites->push_back(std::move(site));
      }
    }
  }
  return JudgeProgress(wait.request, *nodes, wait.sites.value_or(std::vector<v1::Site>()));
}

void Waits::Answer(NodeMarksBook& marks) {
  const auto now = clock_.Monotonic();
  std::vector<PendingWait> still;
  // A callback may ask for another wait.
  for (PendingWait& wait : std::exchange(pending_, {})) {
    const bool due = now >= wait.deadline;
    const auto judged = Judge(wait, marks);
    if (!judged.ok() && !due) {
      still.push_back(std::move(wait));
      continue;
    }
    const v1::WaitForRevisionResponse response = judged.value_or(v1::WaitForRevisionResponse());
    if (response.reached() || IsRefused(response) || due) {
      wait.done(response);
    } else {
      still.push_back(std::move(wait));
    }
  }
  for (PendingWait& wait : still) {
    pending_.push_back(std::move(wait));
  }
}

}  // namespace croft::control::feed
