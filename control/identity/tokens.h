// Bearer secrets: made once, shown once, kept and compared as a hash. Never logged.
#pragma once

#include <string>
#include <string_view>

namespace croft::control::identity {

// 256 random bits with a prefix by which a leaked one is recognised: "croft_" and 43 characters of
// base64url.
std::string MakeOperatorToken();
std::string MakeJoinToken();

// SHA-256 as lower-case hexadecimal. A token has too much entropy to need salt or stretching.
std::string HashToken(std::string_view token);

}  // namespace croft::control::identity
