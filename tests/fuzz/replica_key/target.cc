// Keys, sealed values and bodies of a damaged replica are refused or read, never more; what is read
// encodes back to itself.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "node/replica/record_keys.h"
#include "node/replica/replica_format.h"
#include "proto/base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  using namespace croft::node;
  if (const auto key = replica::DecodeKey(bytes)) {
    croft::Check(replica::EncodeKey(*key) == bytes, "a key does not encode back");
  }
  const std::string_view head = bytes.substr(0, size / 2);
  const std::string_view tail = bytes.substr(size / 2);
  const auto payload = replica::Unseal(head, tail);
  croft::Check(!payload || replica::Seal(head, *payload) == tail, "a seal does not close again");
  const std::string sealed = replica::Seal(head, tail);
  croft::Check(replica::Unseal(head, sealed) == tail, "a sealed value does not open");
  for (int type = 0; size > 0 && type <= v1::ACCOUNT + 1; ++type) {
    (void)replica::ReadRecordKeys(static_cast<v1::RecordType>(type), bytes);
  }
  return 0;
}
