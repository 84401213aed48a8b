#include "node/launcher/port_holder.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace croft::node::launcher {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kListening = "0A";

// "socket:[inode]" of every socket that listens on the port, by a table such as /proc/net/tcp,
// where listening sockets come first.
void AddListeningSockets(const char* table_path, std::uint16_t port, std::set<std::string>& links) {
  std::ifstream table(table_path);
  std::string line;
  std::getline(table, line);
  const std::string suffix = fmt::format(":{:04X}", port);
  while (std::getline(table, line)) {
    std::istringstream fields(line);
    std::string slot, local, remote, state, queues, timer, retransmits, uid, timeout, inode;
    fields >> slot >> local >> remote >> state >> queues >> timer >> retransmits >> uid >> timeout;
    if (!(fields >> inode) || state != kListening) {
      return;
    }
    if (local.ends_with(suffix)) {
      links.insert(fmt::format("socket:[{}]", inode));
    }
  }
}

bool HasOneOf(const fs::path& process, const std::set<std::string>& links) {
  std::error_code failed;
  for (fs::directory_iterator fd(process / "fd", failed), end; !failed && fd != end;
       fd.increment(failed)) {
    std::error_code unreadable;
    if (links.contains(fs::read_symlink(fd->path(), unreadable).string())) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::string FindPortHolder(std::uint16_t port) {
  std::set<std::string> links;
  AddListeningSockets("/proc/net/tcp", port, links);
  AddListeningSockets("/proc/net/tcp6", port, links);
  if (links.empty()) {
    return {};
  }
  std::error_code failed;
  for (fs::directory_iterator entry("/proc", failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const std::string pid = entry->path().filename().string();
    if (pid.find_first_not_of("0123456789") == std::string::npos &&
        HasOneOf(entry->path(), links)) {
      std::ifstream file(entry->path() / "comm");
      std::string name;
      std::getline(file, name);
      return fmt::format("{} (pid {})", name, pid);
    }
  }
  return {};
}

}  // namespace croft::node::launcher
