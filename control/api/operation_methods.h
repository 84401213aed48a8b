// The methods of operations, and those that start one.
#pragma once

#include "control/api/methods.h"
#include "control/operations/operations.h"
#include "control/operations/runner.h"
#include "control/operations/waits.h"

namespace croft::control::api {

// All outlive the table.
struct OperationParts {
  operations::Operations& operations;
  operations::Runner& runner;
  operations::Waits& waits;
};

void AddOperationMethods(store::Store& store, domain::Access& access, const OperationParts& parts,
                         Methods& methods);

}  // namespace croft::control::api
