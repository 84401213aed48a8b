#include "proto/contract/account_name.h"

#include <algorithm>
#include <array>

#include "proto/base/error.h"
#include "proto/contract/text_rules.h"

namespace croft::contract {
namespace {

constexpr std::size_t kNameBytesMax = 63;

// Sorted. Hosts and paths that belong to the operator of a personal-pages site.
constexpr std::array<std::string_view, 50> kReserved = {
    "abuse",      "account",      "accounts", "admin",    "administrator", "api",
    "autoconfig", "autodiscover", "billing",  "cgi-bin",  "console",       "controlpanel",
    "cpanel",     "daemon",       "default",  "dns",      "ftp",           "help",
    "hostmaster", "icons",        "imap",     "info",     "localhost",     "login",
    "mail",       "manual",       "mx",       "news",     "nobody",        "noc",
    "ns1",        "ns2",          "operator", "pop",      "pop3",          "postmaster",
    "private",    "public",       "root",     "security", "server-info",   "server-status",
    "shop",       "smtp",         "ssl",      "status",   "support",       "webmaster",
    "wpad",       "www"};
static_assert(std::is_sorted(kReserved.begin(), kReserved.end()));

bool IsNameByte(char c) { return (c >= 'a' && c <= 'z') || IsDigit(c) || c == '-'; }

// Why the lower-case `name` cannot be an account's; empty if it can.
std::string_view FindFault(std::string_view name) {
  if (name.empty()) {
    return "it is empty";
  }
  if (name.size() > kNameBytesMax) {
    return "it is longer than 63 characters";
  }
  if (!std::all_of(name.begin(), name.end(), IsNameByte)) {
    return "it may have only letters a-z, digits and hyphens";
  }
  if (name.front() == '-' || name.back() == '-') {
    return "it begins or ends with a hyphen";
  }
  if (name.substr(0, 4) == "xn--") {
    return "names that begin with \"xn--\" are kept for international domain names";
  }
  if (IsReservedAccountName(name)) {
    return "it is reserved for the operator's own hosts and paths; choose another";
  }
  return {};
}

}  // namespace

absl::StatusOr<std::string> ParseAccountName(std::string_view text) {
  std::string name = LowerAscii(text);
  if (const std::string_view fault = FindFault(name); !fault.empty()) {
    return Error(absl::StatusCode::kInvalidArgument, "account name \"{}\": {}", Shorten(text),
                 fault);
  }
  return name;
}

bool IsReservedAccountName(std::string_view name) {
  return std::binary_search(kReserved.begin(), kReserved.end(), name);
}

std::string CanonicalAccountName(std::string_view segment) {
  if (segment.size() > kNameBytesMax) {
    return {};
  }
  std::string name = LowerAscii(segment);
  if (!FindFault(name).empty()) {
    name.clear();
  }
  return name;
}

}  // namespace croft::contract
