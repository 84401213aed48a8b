// Tokens: the secret, which is made once and shown once, and how long a token is good for.
#pragma once

#include <chrono>
#include <string>

#include "control/store/store.h"

namespace croft::control::domain {

struct TokenSecret {
  std::string secret;  // never stored
  std::string hash;
};

TokenSecret MakeTokenSecret();

// From then on a token is refused. A row that can't be read has expired.
std::chrono::system_clock::time_point ExpiryOf(const store::StoredResource& token_row);

}  // namespace croft::control::domain
