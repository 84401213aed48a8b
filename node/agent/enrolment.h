// Gets the node its certificate: keeps asking control with the join token, with back-off, until it
// has one. The node serves meanwhile. Supervision loop only.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <string>

#include "node/agent/control_transport.h"
#include "node/agent/identity.h"
#include "proto/base/retry.h"

namespace croft::node::agent {

class Enrolment {
 public:
  struct Options {
    std::string control;
    std::string ca_file;
    std::string join_token_file;
  };
  Enrolment(boost::asio::io_context& loop, const IdentityStore& store, Options options,
            std::function<void(Identity)> on_enrolled);

  // The pair on disk if it is there and has not expired; otherwise enrols. `on_enrolled` is called
  // once, in either case.
  void Start();

 private:
  // Whether the identity on disk is usable, and handed over.
  bool UseStored();
  void Try();
  absl::StatusOr<v1::EnrollRequest> MakeRequest(const KeyRequest& key) const;
  void OnAnswer(const KeyRequest& key, const std::string& ca,
                absl::StatusOr<v1::EnrollResponse> answer);
  void RetryLater(const absl::Status& status);

  // Constant after construction.
  boost::asio::io_context& loop_;
  const IdentityStore& store_;
  const Options options_;
  const std::function<void(Identity)> on_enrolled_;

  // Supervision loop only.
  boost::asio::steady_timer timer_;
  Backoff backoff_{
      {.first = std::chrono::milliseconds(200), .most = std::chrono::milliseconds(10'000)}};
  std::string last_error_;
  std::string last_stored_error_;
};

}  // namespace croft::node::agent
