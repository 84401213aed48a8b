// Mixed scripts within one label of a host name (UTS #39 §5.2, "highly restrictive"): one script,
// or Latin with the scripts that Japanese, Chinese or Korean are written in. Pure.
#pragma once

#include <string>
#include <string_view>

namespace croft::contract {

// The names of two scripts that may not stand together, such as "Latin and Cyrillic"; empty if the
// label is well written. REQUIRES: well-formed UTF-8.
std::string FindMixedScripts(std::string_view label);

}  // namespace croft::contract
