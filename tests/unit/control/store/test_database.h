// One private PostgreSQL for a test program, and an empty schema in it for each test, which is a
// database of its own as far as a Store can see, and takes a tenth of the time.
#pragma once

#include <memory>
#include <string>

namespace croft::control::store {

class TestDatabase {
 public:
  // Starts the server at the first call; it stops with the program.
  static TestDatabase& Get();

  // A connection string to a new, empty schema.
  std::string MakeDatabase();
  // Runs SQL in a database, by hand as it were.
  void Execute(const std::string& url, const std::string& sql);
  // One value.
  std::string Select(const std::string& url, const std::string& sql);
  int server_pid() const;

  ~TestDatabase();

 private:
  TestDatabase();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace croft::control::store
