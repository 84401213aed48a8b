#include "node/launcher/child.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/unique_fd.h"

namespace croft::node::launcher {
namespace {

// A shell, by its file alone.
ChildPlan PlanFor(const UniqueFd& program) {
  ChildPlan plan;
  plan.arguments = {"sh", "-c", "exit 3"};
  plan.environment = {"PATH=/bin"};
  plan.program = {.file = program.get(), .directory = program.get()};
  return plan;
}

TEST(StartChild, BeginsTheProgram) {
  const UniqueFd shell(::open("/bin/sh", O_RDONLY | O_CLOEXEC));
  const auto pid = StartChild(PlanFor(shell));
  ASSERT_TRUE(pid.ok()) << pid.status();
  EXPECT_NE(StartTimeOf(*pid), 0u);
  int status = 0;
  ASSERT_EQ(::waitpid(*pid, &status, 0), *pid);
  EXPECT_EQ(WEXITSTATUS(status), 3);
}

TEST(StartChild, KeepsTheProgramsName) {
  const UniqueFd shell(::open("/bin/sh", O_RDONLY | O_CLOEXEC));
  const UniqueFd directory(::open("/bin", O_PATH | O_DIRECTORY | O_CLOEXEC));
  ChildPlan plan = PlanFor(shell);
  plan.program.directory = directory.get();
  plan.arguments[2] = "read name < /proc/$$/comm; test $name = sh";
  const auto pid = StartChild(plan);
  ASSERT_TRUE(pid.ok()) << pid.status();
  int status = -1;
  ASSERT_EQ(::waitpid(*pid, &status, 0), *pid);
  EXPECT_EQ(status, 0);
}

TEST(StartChild, PlacesDescriptorsWhateverTheirNumbersWere) {
  const UniqueFd shell(::open("/bin/sh", O_RDONLY | O_CLOEXEC));
  const UniqueFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const UniqueFd zero(::open("/dev/zero", O_RDONLY | O_CLOEXEC));
  ChildPlan plan = PlanFor(shell);
  plan.descriptors = {zero.get(), null.get(), zero.get()};
  plan.arguments[2] =
      "cd /proc/self/fd; test $(readlink 3)$(readlink 4)$(readlink 5) = "
      "/dev/zero/dev/null/dev/zero";
  const auto pid = StartChild(plan);
  ASSERT_TRUE(pid.ok()) << pid.status();
  int status = -1;
  ASSERT_EQ(::waitpid(*pid, &status, 0), *pid);
  EXPECT_EQ(status, 0);
}

TEST(StartChild, NamesTheStepThatFailed) {
  const UniqueFd no_program(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const auto not_executable = StartChild(PlanFor(no_program));
  EXPECT_THAT(std::string(not_executable.status().message()), testing::HasSubstr("execute: "));
  const UniqueFd shell(::open("/bin/sh", O_RDONLY | O_CLOEXEC));
  ChildPlan plan = PlanFor(shell);
  plan.descriptors = {-1};
  EXPECT_THAT(std::string(StartChild(plan).status().message()),
              testing::HasSubstr("place descriptors: "));
}

TEST(StartTimeOf, IsZeroForNobodyAndSteadyForSomebody) {
  EXPECT_EQ(StartTimeOf(-1), 0u);
  EXPECT_NE(StartTimeOf(::getpid()), 0u);
  EXPECT_EQ(StartTimeOf(::getpid()), StartTimeOf(::getpid()));
}

}  // namespace
}  // namespace croft::node::launcher
