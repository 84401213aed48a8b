// Control as a node sees it, spoken for by the test: enrols nodes, says welcome, sends batches,
// notes what comes back. Real TLS, real gRPC.
#pragma once

#include <google/protobuf/message.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "croft/node/v1/feed.pb.h"

namespace croft::node::agent {

// Polls; false when ten seconds have passed.
bool Eventually(const std::function<bool()>& holds);

class SmallControl {
 public:
  SmallControl();
  ~SmallControl();

  // Listens on the port it had before, or on a free one.
  void Start();
  // Ends every stream and closes the port.
  void Stop();

  std::string address() const;
  const std::string& ca() const;
  std::string token() const { return "join-me"; }
  std::string node() const { return "farms/main/nodes/web1"; }

  // Puts a record into the next delta (a null message deletes); returns its revision.
  // Another database: no record, and no memory of what the node holds. Ends every stream.
  void BeginAnotherHistory();
  void Accept(const croft::v1::VanishingSites& vanishing);
  std::int64_t Put(v1::RecordType type, std::int64_t uid, const google::protobuf::Message* body);

  // What the node has told on any stream.
  std::int64_t enrolments() const;
  std::int64_t applied() const;
  std::int64_t serving() const;
  std::string problem() const;
  croft::v1::VanishingSites vanishing() const;
  // "*:80" for each, as last told.
  std::vector<std::string> missing_endpoints() const;
  std::int64_t hellos() const;
  std::vector<v1::RecordResult> refused() const;
  bool HasEvent(const std::string& kind) const;
  // Sum of a counter over all sources and instances, as last reported.
  std::int64_t Counter(std::uint32_t type, std::uint32_t counter) const;

 private:
  struct State;
  class Services;
  std::unique_ptr<State> state_;
};

}  // namespace croft::node::agent
