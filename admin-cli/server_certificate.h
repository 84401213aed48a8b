// Why control's certificate is not accepted, for the operator: gRPC says only that it is not.
// Connects once more, looks at the certificate and sends nothing. Blocks for a few seconds at most.
#pragma once

#include <optional>
#include <string>

namespace croft::admin_cli {

// What is wrong with the dates of the certificate that HOST:PORT shows to who trusts `ca` (PEM),
// and the way out; nullopt if the dates are not what is wrong, or nobody answers.
std::optional<std::string> WrongDates(const std::string& address, const std::string& ca);

}  // namespace croft::admin_cli
