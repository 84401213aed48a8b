#include "admin-cli/diff_text.h"

#include <gtest/gtest.h>

#include <string>

namespace croft::admin_cli {
namespace {

v1::AppliedResource Applied(const std::string& action) {
  v1::AppliedResource applied;
  applied.set_name("farms/main/sites/shop");
  applied.set_action(action);
  return applied;
}

void Change(v1::AppliedResource& applied, const std::string& path, const std::string& before,
            const std::string& after) {
  v1::FieldChange& change = *applied.add_changes();
  change.set_path(path);
  change.set_before(before);
  change.set_after(after);
}

TEST(DiffText, ShowsBothSidesOfEachField) {
  v1::AppliedResource update = Applied("update");
  Change(update, "settings.limits.max_body", "30MB", "50MB");
  Change(update, "state", "", "STOPPED");
  Change(update, "labels.tier", "gold", "");
  EXPECT_EQ(FormatDiff(update),
            "--- farms/main/sites/shop\n+++ farms/main/sites/shop\n"
            "-settings.limits.max_body: 30MB\n+settings.limits.max_body: 50MB\n"
            "+state: STOPPED\n-labels.tier: gold\n");
}

TEST(DiffText, NamesTheSideThatDoesNotExist) {
  EXPECT_EQ(FormatDiff(Applied("create")), "--- /dev/null\n+++ farms/main/sites/shop\n");
  EXPECT_EQ(FormatDiff(Applied("delete")), "--- farms/main/sites/shop\n+++ /dev/null\n");
  EXPECT_EQ(FormatDiff(Applied("")), "");
}

TEST(DiffText, SaysWhatWasDone) {
  EXPECT_EQ(FormatApplied(Applied("create"), false), "site shop created");
  EXPECT_EQ(FormatApplied(Applied(""), true), "site shop unchanged (dry run)");
  v1::AppliedResource update = Applied("update");
  Change(update, "state", "", "STOPPED");
  Change(update, "bindings", "", "*:80:a.example");
  EXPECT_EQ(FormatApplied(update, false), "site shop updated (state, bindings)");
  for (int i = 0; i < 8; ++i) {
    Change(update, "labels.l" + std::to_string(i), "", "x");
  }
  EXPECT_EQ(FormatApplied(update, false).substr(0, 34), "site shop updated (state, bindings");
  EXPECT_TRUE(FormatApplied(update, false).ends_with(" and 2 more)"));
  update.set_name("platform");
  update.clear_changes();
  EXPECT_EQ(FormatApplied(update, false), "platform updated");
}

}  // namespace
}  // namespace croft::admin_cli
