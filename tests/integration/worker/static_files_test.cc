// What the static-file handler answers, over a real worker.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tests/integration/worker/worker_process.h"

namespace croft::node::worker {
namespace {

namespace fs = std::filesystem;

TEST(StaticFiles, ServesAFileWithItsMetadata) {
  WorkerProcess worker;
  worker.WriteFile("site/page.html", "<p>hello</p>");
  const ClientResponse response = worker.Get("/page.html?x=1");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "<p>hello</p>");
  EXPECT_EQ(response.Header("content-type"), "text/html");
  EXPECT_EQ(response.Header("content-length"), "12");
  EXPECT_EQ(response.Header("last-modified"), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(response.Header("accept-ranges"), "bytes");
  EXPECT_THAT(response.Header("etag"), testing::MatchesRegex("\"[0-9a-f-]+\""));
  EXPECT_EQ(response.Header("cache-control"), "");
  EXPECT_EQ(response.Header("croft-substatus"), "");
}

TEST(StaticFiles, AnswersHeadLikeGetWithoutABody) {
  WorkerProcess worker;
  worker.WriteFile("site/page.txt", "text");
  worker.WriteFile("site/empty.txt", "");
  for (const char* path : {"/page.txt", "/empty.txt", "/none.txt"}) {
    ClientResponse get = worker.Get(path);
    const ClientResponse head = worker.Ask("HEAD", path);
    EXPECT_EQ(head.status, get.status) << path;
    EXPECT_EQ(head.headers, get.headers) << path;
    EXPECT_EQ(head.body, "") << path;
    EXPECT_EQ(get.Header("content-length"), std::to_string(get.body.size())) << path;
  }
}

TEST(StaticFiles, AnswersEachKindOfPath) {
  WorkerProcess worker;
  worker.WriteFile("site/index.html", "home");
  worker.WriteFile("site/docs/index.htm", "docs");
  worker.WriteFile("site/many/default.html", "second");
  worker.WriteFile("site/many/index.htm", "first");
  worker.WriteFile("site/odd/index.html/x", "in a directory called index.html");
  worker.WriteFile("site/odd/index.htm", "odd");
  worker.WriteFile("site/empty-dir/.keep", "");
  worker.WriteFile("site/a b/ü.txt", "umlaut");
  worker.WriteFile("site/noext", "plain");
  worker.WriteFile("site/.git/config", "secret");
  worker.WriteFile("site/.htaccess", "secret");
  worker.WriteFile("site/.well-known/token", "token");
  worker.WriteFile("neighbour/secret.txt", "secret");
  ASSERT_EQ(::mkfifo((worker.store() / "site/fifo").c_str(), 0666), 0);

  struct Case {
    std::string path;
    int status;
    std::string body_or_location;
    std::string substatus;
  };
  const std::vector<Case> cases = {
      {"/", 200, "home", ""},
      {"/index.html", 200, "home", ""},
      {"/docs", 301, "/docs/", ""},
      {"/docs?a=b", 301, "/docs/?a=b", ""},
      {"/docs/", 200, "docs", ""},
      {"/many/", 200, "first", ""},
      {"/odd/", 200, "odd", ""},
      {"/a%20b", 301, "/a%20b/", ""},
      {"/a%20b/%C3%BC.txt", 200, "umlaut", ""},
      {"/noext", 200, "plain", ""},
      {"/empty-dir/", 403, "", "14"},
      {"/empty-dir", 301, "/empty-dir/", ""},
      {"/none", 404, "", ""},
      {"/none/", 404, "", ""},
      {"/none/none.html", 404, "", ""},
      {"/index.html/", 404, "", ""},
      {"/index.html/x", 404, "", ""},
      {"/" + std::string(300, 'n'), 404, "", ""},
      {"/.git/config", 404, "", "8"},
      {"/.GIT", 404, "", "8"},
      {"/.htaccess", 404, "", "8"},
      {"/.well-known/token", 200, "token", ""},
      {"/fifo", 404, "", ""},
      {"/../neighbour/secret.txt", 400, "", ""},
      {"/%2e%2e/neighbour/secret.txt", 400, "", ""},
      {"/docs/../index.html", 200, "home", ""},
      {"/x%2fy", 400, "", ""},
      {"/x%00y", 400, "", ""},
      {"/x%zz", 400, "", ""},
  };
  for (const Case& test : cases) {
    const ClientResponse response = worker.Get(test.path);
    EXPECT_EQ(response.status, test.status) << test.path;
    EXPECT_EQ(response.Header("croft-substatus"), test.substatus) << test.path;
    if (test.status == 200) {
      EXPECT_EQ(response.body, test.body_or_location) << test.path;
    } else if (test.status == 301) {
      EXPECT_EQ(response.Header("location"), test.body_or_location) << test.path;
    } else {
      EXPECT_THAT(response.body, testing::HasSubstr(std::to_string(test.status))) << test.path;
    }
  }
}

TEST(StaticFiles, ServesBelowAMount) {
  WorkerProcess worker;
  worker.WriteFile("homes/1/bob/index.html", "bob");
  worker.WriteFile("homes/1/bob/pics/a.txt", "pic");
  const auto ask = [&](const std::string& path, std::size_t strip) {
    return worker.client().Await(worker.client().Submit(
        WorkerProcess::Request("GET", path, worker.settings(),
                               {.settings_number = 7, .strip = strip, .root = "homes/1/bob"})));
  };
  EXPECT_EQ(ask("/~bob/", 5).body, "bob");
  EXPECT_EQ(ask("/~bob/pics/a.txt", 5).body, "pic");
  EXPECT_EQ(ask("/~bob", 5).Header("location"), "/~bob/");
  EXPECT_EQ(ask("/pics/a.txt", 0).body, "pic");
  EXPECT_EQ(ask("/~bob/", 3).status, 400);
  EXPECT_EQ(ask("/~bob/", 99).status, 400);
}

TEST(StaticFiles, NeverLeaveTheRoot) {
  WorkerProcess worker;
  worker.WriteFile("site/page.txt", "page");
  worker.WriteFile("neighbour/secret.txt", "secret");
  const fs::path site = worker.store() / "site";
  fs::create_symlink("page.txt", site / "inside.txt");
  fs::create_directory_symlink(".", site / "self");
  fs::create_symlink("../neighbour/secret.txt", site / "neighbour.txt");
  fs::create_directory_symlink("../neighbour", site / "neighbour");
  fs::create_symlink("/etc/passwd", site / "passwd.txt");
  fs::create_symlink("/proc/self/environ", site / "environ.txt");
  fs::create_directory_symlink("/proc/self/root", site / "root");
  fs::create_symlink("loop.txt", site / "loop.txt");
  fs::create_directory_symlink("site", worker.store() / "linked-site");
  for (int round = 0; round < 2; ++round) {  // from the disk, then from the kernel's caches
    EXPECT_EQ(worker.Get("/inside.txt").body, "page");
    EXPECT_EQ(worker.Get("/self/self/page.txt").body, "page");
    for (const char* path : {"/neighbour.txt", "/neighbour/secret.txt", "/neighbour/", "/neighbour",
                             "/passwd.txt", "/environ.txt", "/root/etc/passwd", "/loop.txt"}) {
      EXPECT_EQ(worker.Get(path).status, 404) << path;
    }
    for (const char* root : {"linked-site", "../store/site", "/etc", "site/../neighbour"}) {
      const ClientResponse response = worker.client().Await(worker.client().Submit(
          WorkerProcess::Request("GET", "/page.txt", worker.settings(), {.root = root})));
      EXPECT_NE(response.status, 200) << root;
    }
  }
}

TEST(StaticFiles, AnswersConditionalRequests) {
  WorkerProcess worker;
  worker.WriteFile("site/page.txt", "text");
  const std::string etag = worker.Get("/page.txt").Header("etag");
  const std::string date = "Sun, 06 Nov 1994 08:49:37 GMT";
  const std::vector<std::pair<Headers, int>> cases = {
      {{{"if-none-match", etag}}, 304},
      {{{"if-none-match", "\"x\""}, {"if-none-match", "W/" + etag}}, 304},
      {{{"if-none-match", "\"x\""}}, 200},
      {{{"if-modified-since", date}}, 304},
      {{{"if-modified-since", "Sun, 06 Nov 1994 08:49:36 GMT"}}, 200},
      {{{"if-none-match", "\"x\""}, {"if-modified-since", date}}, 200},
      {{{"if-match", etag}}, 200},
      {{{"if-match", "\"x\""}}, 412},
      {{{"if-unmodified-since", "Sun, 06 Nov 1994 08:49:36 GMT"}}, 412},
      {{{"range", "bytes=0-0"}, {"if-range", etag}}, 206},
      {{{"range", "bytes=0-0"}, {"if-range", "\"x\""}}, 200},
      {{{"range", "bytes=0-0"}, {"if-range", date}}, 206},
      {{{"range", "bytes=9-"}, {"if-none-match", etag}}, 304},
  };
  for (const auto& [headers, status] : cases) {
    const ClientResponse response = worker.Get("/page.txt", headers);
    EXPECT_EQ(response.status, status) << headers[0].first << " " << headers[0].second;
    if (status == 304) {
      EXPECT_EQ(response.Header("etag"), etag);
      EXPECT_EQ(response.body, "");
      EXPECT_EQ(response.Header("content-length"), "");
    }
  }
}

TEST(StaticFiles, AnswersRangeRequests) {
  WorkerProcess worker;
  std::string text;
  for (int i = 0; i < 100'000; ++i) {
    text += static_cast<char>('a' + i % 26);
  }
  worker.WriteFile("site/data.txt", text);
  const ClientResponse one = worker.Get("/data.txt", {{"range", "bytes=70000-70009"}});
  EXPECT_EQ(one.status, 206);
  EXPECT_EQ(one.body, text.substr(70'000, 10));
  EXPECT_EQ(one.Header("content-range"), "bytes 70000-70009/100000");
  EXPECT_EQ(one.Header("content-length"), "10");

  EXPECT_EQ(worker.Get("/data.txt", {{"range", "bytes=-99990"}}).body, text.substr(10));
  EXPECT_EQ(worker.Ask("HEAD", "/data.txt", {{"range", "bytes=0-0"}}).status, 200);

  const ClientResponse none = worker.Get("/data.txt", {{"range", "bytes=100000-"}});
  EXPECT_EQ(none.status, 416);
  EXPECT_EQ(none.Header("content-range"), "bytes */100000");

  const ClientResponse two = worker.Get("/data.txt", {{"range", "bytes=0-9,99990-"}});
  EXPECT_EQ(two.status, 206);
  EXPECT_EQ(two.Header("content-length"), std::to_string(two.body.size()));
  EXPECT_THAT(two.body, testing::HasSubstr("Content-Range: bytes 99990-99999/100000\r\n\r\n" +
                                           text.substr(99'990) + "\r\n--"));
}

TEST(StaticFiles, ObeyTheSitesSettings) {
  WorkerProcess worker;
  worker.WriteFile("site/start.html", "start");
  worker.WriteFile("site/index.html", "index");
  worker.WriteFile("site/data.weird", "weird");
  worker.WriteFile("site/data.unknown", "unknown");
  worker.WriteFile("site/a.bak", "backup");
  v1::TargetSettings settings = worker.settings();
  auto& files = *settings.mutable_settings()->mutable_static_files();
  auto& documents = *settings.mutable_settings()->mutable_default_documents();
  documents.mutable_names()->clear_values();
  documents.mutable_names()->add_values("none.html");
  documents.mutable_names()->add_values("../neighbour");
  documents.mutable_names()->add_values("start.html");
  (*files.mutable_mime_types()->mutable_entries())["weird"] = "x/weird";
  files.set_unknown_mime_type("");
  files.mutable_hidden_segments()->clear_values();
  files.mutable_hidden_segments()->add_values("*.bak");
  files.set_etag(false);
  files.set_cache_max_age(3'600'000);
  const auto get = [&](const std::string& path) {
    return worker.client().Await(worker.client().Submit(
        WorkerProcess::Request("GET", path, settings, {.settings_number = 3, .root = "site"})));
  };
  EXPECT_EQ(get("/").body, "start");
  EXPECT_EQ(get("/").Header("cache-control"), "max-age=3600");
  EXPECT_EQ(get("/").Header("etag"), "");
  EXPECT_EQ(get("/data.weird").Header("content-type"), "x/weird");
  EXPECT_EQ(get("/data.unknown").status, 404);
  EXPECT_EQ(get("/data.unknown").Header("croft-substatus"), "3");
  EXPECT_EQ(get("/a.bak").Header("croft-substatus"), "8");
  documents.set_enabled(false);
  EXPECT_EQ(get("/").Header("croft-substatus"), "14");
}

TEST(StaticFiles, RespectPermissions) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "as an ordinary user the worker owns the files";
  }
  WorkerProcess worker;
  fs::permissions(worker.WriteFile("site/private.txt", "x"), fs::perms(0600));
  worker.WriteFile("site/home/index.html", "home");
  worker.WriteFile("site/closed/index.html", "closed");
  fs::permissions(worker.store() / "site/home", fs::perms(0711));
  fs::permissions(worker.store() / "site/closed", fs::perms(0700));
  EXPECT_EQ(worker.Get("/private.txt").status, 403);
  EXPECT_EQ(worker.Get("/private.txt").Header("croft-substatus"), "2");
  EXPECT_EQ(worker.Get("/home").Header("location"), "/home/");
  EXPECT_EQ(worker.Get("/home/").body, "home");
  EXPECT_EQ(worker.Get("/closed/").status, 403);
  EXPECT_EQ(worker.Get("/closed/index.html").status, 403);
}

TEST(StaticFiles, RefuseOtherMethodsAndDropTheirBodies) {
  WorkerProcess worker;
  worker.WriteFile("site/page.txt", "text");
  Headers headers =
      WorkerProcess::Request("POST", "/page.txt", worker.settings(), {.root = "site"});
  const ClientResponse post =
      worker.client().Await(worker.client().Submit(headers, std::string(3'000'000, 'x')));
  EXPECT_EQ(post.status, 405);
  EXPECT_EQ(post.Header("allow"), "GET, HEAD");
  EXPECT_TRUE(post.done);
  headers[0].second = "GET";
  EXPECT_EQ(worker.client().Await(worker.client().Submit(headers, "ignored")).body, "text");
  EXPECT_EQ(worker.Ask("DELETE", "/page.txt").status, 405);
}

TEST(StaticFiles, AreUnavailableWhileTheStoreIsMissing) {
  WorkerProcess worker;
  worker.WriteFile("site/page.txt", "text");
  const auto get = [&] { return worker.Get("/page.txt"); };
  EXPECT_EQ(get().status, 200);
  v1::TargetSettings elsewhere =
      WorkerProcess::DefaultSettings((worker.directory() / "later").string());
  elsewhere.set_store_uid(10);
  const auto get_elsewhere = [&] {
    return worker.client().Await(worker.client().Submit(WorkerProcess::Request(
        "GET", "/page.txt", elsewhere, {.settings_number = 1, .root = "site"})));
  };
  EXPECT_EQ(get_elsewhere().status, 503);
  EXPECT_EQ(get_elsewhere().Header("croft-substatus"), "102");
  fs::create_directories(worker.directory() / "later/site");
  fs::copy_file(worker.store() / "site/page.txt", worker.directory() / "later/site/page.txt");
  EXPECT_EQ(get_elsewhere().body, "text");
}

}  // namespace
}  // namespace croft::node::worker
