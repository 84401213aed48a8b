// What the agent may ask of the launcher. The agent is less privileged: every request is judged as
// if it came from an enemy, and can at most start our programs as identities of the range, signal
// them, and bind addresses.
#pragma once

#include <vector>

#include "croft/node/v1/launcher.pb.h"
#include "node/launcher/endpoints.h"
#include "node/launcher/identities.h"
#include "node/launcher/processes.h"

namespace croft::node::launcher {

struct Reply {
  v1::LauncherMessage message;
  std::vector<int> descriptors;  // good until the process or the endpoint goes
};

class Requests {
 public:
  Requests(const Identities& identities, Processes& processes, Endpoints& endpoints)
      : identities_(identities), processes_(processes), endpoints_(endpoints) {}

  // In the order to send; the last one ends the answer.
  std::vector<Reply> Answer(const v1::LauncherRequest& request);

 private:
  absl::StatusOr<Reply> Start(const v1::StartProcess& request);
  absl::StatusOr<Reply> Kill(const v1::KillProcess& request);
  absl::StatusOr<Reply> OpenEndpoint(const v1::OpenEndpoint& request);
  absl::StatusOr<Reply> CloseEndpoint(const v1::CloseEndpoint& request);
  std::vector<Reply> Inventory() const;
  absl::StatusOr<Reply> AnswerOne(const v1::LauncherRequest& request);

  // Constant after construction.
  const Identities& identities_;

  Processes& processes_;
  Endpoints& endpoints_;
};

}  // namespace croft::node::launcher
