// Runs a fuzz target over every file of the corpus directories given: the fuzz smoke test of a
// normal build.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argc, char** argv) {
  int files = 0;
  for (int i = 1; i < argc; ++i) {
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
      std::ifstream file(entry.path(), std::ios::binary);
      const std::string bytes((std::istreambuf_iterator<char>(file)), {});
      LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
      // Every prefix and every single flipped byte of a small input: cheap, and finds most parser
      // slips.
      for (std::size_t n = 0; bytes.size() <= 512 && n < bytes.size(); ++n) {
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), n);
        std::string flipped = bytes;
        flipped[n] = static_cast<char>(flipped[n] ^ 0x55);
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(flipped.data()),
                               flipped.size());
      }
      ++files;
    }
  }
  std::printf("%d corpus files\n", files);
  return files > 0 ? 0 : 1;
}
