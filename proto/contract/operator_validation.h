// Operators and tokens by themselves: canonical form, and all violations. Pure.
#pragma once

#include "croft/v1/operator.pb.h"
#include "proto/contract/violations.h"

namespace croft::contract {

void NormalizeOperator(v1::Operator& resource);
void ValidateOperator(const v1::Operator& resource, ViolationList& violations);
// A lifetime of 0 becomes 90 days.
void NormalizeToken(v1::Token& token);
void ValidateToken(const v1::Token& token, ViolationList& violations);

}  // namespace croft::contract
