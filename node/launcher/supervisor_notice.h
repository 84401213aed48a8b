// Tells systemd how the node is, by the socket it names in NOTIFY_SOCKET.
#pragma once

namespace croft::node::launcher {

// "READY=1", "STOPPING=1". Does nothing where nobody listens.
void NotifySupervisor(const char* state);

}  // namespace croft::node::launcher
