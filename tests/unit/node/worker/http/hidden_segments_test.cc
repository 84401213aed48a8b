#include "node/worker/http/hidden_segments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>

namespace croft::node::worker::http {
namespace {

const HiddenSegments& Defaults() {
  static const HiddenSegments hidden(
      {".git", ".hg", ".svn", ".ht*", ".env", ".env.*", ".DS_Store"});
  return hidden;
}

TEST(HiddenSegments, HideWhatThePatternsName) {
  for (const std::string_view path :
       {".git", ".git/config", "a/.git/HEAD", "a/b/.htaccess", ".HTPASSWD", "x/.env",
        ".env.production", ".ds_store", ".GIT/x", ".ht"}) {
    EXPECT_TRUE(Defaults().Hides(path)) << path;
  }
}

TEST(HiddenSegments, LeaveTheRestAlone) {
  for (const std::string_view path :
       {"", "index.html", "git", "a/.gitignore", "a.git/x", ".environment", ".well-known",
        ".well-known/acme-challenge/t", "x/.hidden", "a.ht"}) {
    EXPECT_FALSE(Defaults().Hides(path)) << path;
  }
}

TEST(HiddenSegments, MatchStarsAnywhere) {
  const HiddenSegments hidden({"*.bak", "web*.config", "*secret*", ".*"});
  for (const std::string_view path :
       {"a.bak", "x/web.config", "WEB.release.CONFIG", "my-secrets.txt", ".anything"}) {
    EXPECT_TRUE(hidden.Hides(path)) << path;
  }
  for (const std::string_view path : {"a.bak.txt", "web.configs", "bak", ".well-known/x"}) {
    EXPECT_FALSE(hidden.Hides(path)) << path;
  }
}

TEST(HiddenSegments, AreNoneByDefault) { EXPECT_FALSE(HiddenSegments().Hides(".git/config")); }

}  // namespace
}  // namespace croft::node::worker::http
