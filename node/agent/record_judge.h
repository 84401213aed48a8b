// Whether a record may enter the replica, by the contract's rules, and what may not be refused even
// so. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "croft/node/v1/feed.pb.h"

namespace croft::node::agent {

// Why the record is to be quarantined, in one line with the field; nullopt if it is good. A
// deletion is always good. A store in `own_directory`, the node's, never is; empty: there is none.
std::optional<std::string> FindFault(const v1::Record& record, std::string_view own_directory = {});

// A record that is bad otherwise but stops its site or pool, or suspends its account, does so:
// `last_good` with that state. nullopt if it says no such thing.
std::optional<std::string> StoppedBody(const v1::Record& record, std::string_view last_good);

}  // namespace croft::node::agent
