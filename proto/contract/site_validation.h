// What a site may say beyond its FieldRules. Pure.
#pragma once

#include "croft/v1/site.pb.h"
#include "proto/contract/violations.h"

namespace croft::contract {

inline constexpr int kSiteBindingsMax = 1000;

void NormalizeSite(v1::Site& site);
// Paths begin with "site".
void ValidateSite(const v1::Site& site, ViolationList& violations);

}  // namespace croft::contract
