// croft-worker: takes no arguments; its descriptors are those of node/link/inherited_fds.h.
#include <cstdio>
#include <exception>
#include <string>

#include "node/link/inherited_fds.h"
#include "node/worker/worker.h"
#include "proto/base/log.h"

int main(int argc, char** /*argv*/) {
  if (argc > 1) {
    std::fputs("croft-worker is started by croft-launcher and takes no arguments\n", stderr);
    return 2;
  }
  try {
    using croft::UniqueFd;
    auto worker = croft::node::worker::Worker::Start(
        {.channel = UniqueFd(croft::node::link::kControlChannelFd),
         .counters = UniqueFd(croft::node::link::kCounterMemoryFd),
         .listening = UniqueFd(croft::node::link::kWorkerSocketFd)});
    if (!worker.ok()) {
      croft::log::Error("worker", "cannot start",
                        {{"err", std::string(worker.status().message())}});
      return 1;
    }
    (*worker)->Run();
  } catch (const std::exception& error) {
    croft::log::Error("worker", "ended by an exception", {{"err", error.what()}});
    return 1;
  }
}
