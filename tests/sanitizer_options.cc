// Linked into every program and test of a build with sanitizers. Options given in the environment
// do not reach what the launcher starts, nor does a test see what its processes' children write:
// the options are compiled in, and while a test run has made CROFT_SANITIZER_REPORTS, every report
// goes to a file in there, from which tests/sanitizer_reports ends the run.
#include <dlfcn.h>
#include <unistd.h>

extern "C" {

const char* __asan_default_options() { return "detect_stack_use_after_return=1"; }
const char* __ubsan_default_options() { return "print_stacktrace=1"; }
const char* __tsan_default_options() { return "halt_on_error=1:second_deadlock_stack=1"; }
// A writer of a replica holds LMDB's lock from message to message; the simulation's nodes, which
// never meet in one process otherwise, share a thread that so takes several, in any order.
const char* __tsan_default_suppressions() { return "deadlock:liblmdb"; }

}  // extern "C"

namespace {

constexpr char kDirectory[] = CROFT_SANITIZER_REPORTS;
constexpr char kPath[] = CROFT_SANITIZER_REPORTS "/report";

// libasan, libtsan and libubsan have a report path each, under one name.
void SetReportPath(void* library) {
  void* const set = ::dlsym(library, "__sanitizer_set_report_path");
  if (set != nullptr) {
    reinterpret_cast<void (*)(const char*)>(set)(kPath);
  }
}

[[gnu::constructor]] void ReportIntoDirectory() {
  if (::access(kDirectory, W_OK) != 0) {
    return;
  }
  SetReportPath(RTLD_DEFAULT);
  if (void* const ubsan = ::dlopen("libubsan.so.1", RTLD_NOLOAD | RTLD_NOW); ubsan != nullptr) {
    SetReportPath(ubsan);
  }
}

}  // namespace
