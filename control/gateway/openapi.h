// The API as an OpenAPI 3.1 document, made from the descriptors, their field rules and the .proto
// files' comments: whatever has a method there is in it. Pure.
#pragma once

#include <string>

namespace croft::control::gateway {

// JSON. What nodes speak to control is no operator's, and left out.
std::string BuildOpenApi();

}  // namespace croft::control::gateway
