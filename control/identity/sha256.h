// SHA-256 of what comes in pieces. One thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace croft::control::identity {

class Sha256 {
 public:
  Sha256();
  Sha256(Sha256&&) noexcept;
  ~Sha256();

  void Add(std::string_view bytes);
  // Of all that was added, as lower-case hexadecimal; nothing may be added after it.
  std::string Finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace croft::control::identity
