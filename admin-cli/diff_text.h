// What a change does to a resource, as text. Pure.
#pragma once

#include <string>

#include "croft/v1/resource.pb.h"

namespace croft::admin_cli {

// In the manner of diff -u, a line per field and per item of a list:
//   --- farms/main/sites/shop
//   +++ farms/main/sites/shop
//   -settings.limits.max_body: 30MB
//   +settings.limits.max_body: 50MB
// "/dev/null" stands for the side that does not exist. Empty where nothing changes.
std::string FormatDiff(const v1::AppliedResource& applied);

// "site shop updated (bindings, state)". With `dry_run` it says that nothing was done.
std::string FormatApplied(const v1::AppliedResource& applied, bool dry_run);

}  // namespace croft::admin_cli
