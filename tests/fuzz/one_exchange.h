// A worker session with one request on its way, GET /, for targets that are the worker.
#pragma once

#include <memory>

#include "node/listener/worker_session.h"
#include "proto/base/check.h"

namespace croft::node::listener {

struct OneExchange {
  OneExchange() {
    head.method = "GET";
    head.path = head.path_and_query = "/";
    route.site = std::make_shared<contract::ResolvedSite>();
    route.settings = std::make_shared<v1::Settings>();
    exchange.head = &head;
    exchange.route = &route;
    exchange.authority = "site.example";
    Check(session.CanSubmit() && session.Submit(exchange), "a fresh session takes a request");
  }

  ReadyList ready;
  Wakeup wakeup{ready};
  RequestHead head;
  contract::Route route;
  WorkerSession session{10};
  Exchange exchange{wakeup};
};

}  // namespace croft::node::listener
