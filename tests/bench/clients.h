// Clients of a running control, for benches: where it is, and how fast calls are answered.
#pragma once

#include <functional>
#include <memory>
#include <string>

namespace grpc {
class Channel;
}  // namespace grpc

namespace croft::bench {

struct Target {
  std::string grpc_address;
  std::string json_address;
  std::string ca;
  std::string token;
};

// From control's data directory.
Target ReadTarget(const std::string& directory);

// A connection of its own.
std::shared_ptr<grpc::Channel> ConnectGrpc(const Target& target);

// One request; false when it failed.
using Request = std::function<bool()>;

// `clients` threads, each with what `connect(number)` gives it, for so many seconds. Prints
// "LABEL CLIENTS REQUESTS/S P50 P99", times in microseconds; a failed request ends the program.
void Measure(const char* label, int clients, double seconds,
             const std::function<Request(int)>& connect);

}  // namespace croft::bench
