// Sites take, swap and free names and hosts, each step a delta; the replica must end as one that
// loads the last state as a snapshot.
#include <map>
#include <set>

#include "tests/fuzz/delta_apply/pair_of_replicas.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static croft::fuzz::PairOfReplicas pair;
  pair.Clear();
  std::map<int, int> name_of;  // by site
  for (std::size_t i = 0; i + 1 < size && i < 128; i += 2) {
    const int site = data[i] % 8 + 1;
    const int name = data[i + 1] % 8;
    std::set<int> changed{site};
    if (data[i] >= 224) {
      name_of.erase(site);
    } else {
      for (auto& [other, held] : name_of) {
        if (held == name && other != site) {
          // The other takes ours, or goes if we had none.
          changed.insert(other);
          held = name_of.count(site) != 0 ? name_of[site] : -1;
        }
      }
      std::erase_if(name_of, [](const auto& item) { return item.second < 0; });
      name_of[site] = name;
    }
    pair.ApplyDelta(changed, name_of, (data[i + 1] & 0x80) != 0);
  }
  pair.LoadSnapshot(name_of);
  pair.CheckEqual(name_of);
  return 0;
}
