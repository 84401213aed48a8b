// What goes with a change, and with the answer to a request.
#pragma once

#include <cstdint>
#include <string>

#include "croft/v1/resource.pb.h"

namespace croft::control::store {

struct ChangeInfo {
  std::string who = {};
  std::string request_id = {};  // empty: none
  std::string request_fingerprint =
      {};                   // hash of the request, to tell a repeated id with another body
  std::string answer = {};  // serialised response, given back for a repeated request_id
  v1::Counts counts = {};   // beside it
  std::string reason = {};
};

struct CommittedChange {
  std::int64_t revision = 0;
  std::uint64_t tag = 0;
};

struct KnownRequest {
  std::string fingerprint;
  std::string answer;
  v1::Counts counts;
  std::int64_t revision = 0;  // 0: it changed nothing
};

}  // namespace croft::control::store
