// Between a Store and its PostgreSQL, on a unix socket of its own: loses the answer to a COMMIT, or
// the COMMIT itself, as a network may.
#pragma once

#include <atomic>
#include <list>
#include <string>
#include <thread>

#include "proto/base/unique_fd.h"
#include "tests/unit/control/private_database/scratch_directory.h"

namespace croft::control::store {

class CuttingProxy {
 public:
  enum class Loss {
    kNothing,
    kCommit,  // the server never sees it
    kAnswer,  // the server has carried it out
  };

  // `url`: of the server, with host=DIRECTORY of its socket and, if it says so, port=N.
  explicit CuttingProxy(const std::string& url);
  ~CuttingProxy();

  // The same database by way of the proxy.
  const std::string& url() const { return url_; }
  // At the next COMMIT; everything passes again after it.
  void LoseNext(Loss loss) { loss_ = loss; }
  // New connections are closed at once.
  void SetRefusing(bool refusing) { refusing_ = refusing; }

 private:
  void Accept(const std::stop_token& stop);
  void Pass(const std::stop_token& stop, UniqueFd client);
  // False when the connection is to be cut.
  bool PassQuery(int client, int server);

  private_database::ScratchDirectory directory_;
  std::string url_;
  std::string server_path_;
  UniqueFd listener_;
  std::atomic<Loss> loss_{Loss::kNothing};
  std::atomic<bool> refusing_{false};
  std::list<std::jthread> connections_;  // the acceptor's
  std::jthread acceptor_;
};

}  // namespace croft::control::store
