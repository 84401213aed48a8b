// Who listens on a TCP port, for the error message of a bind that failed.
#pragma once

#include <cstdint>
#include <string>

namespace croft::node::launcher {

// "nginx (pid 812)"; empty if nobody can be named, for want of privilege or because it went.
std::string FindPortHolder(std::uint16_t port);

}  // namespace croft::node::launcher
