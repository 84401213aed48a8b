#include "tests/unit/control/store/test_database.h"

#include <atomic>
#include <pqxx/connection>
#include <pqxx/nontransaction>

#include "control/private_database/private_database.h"
#include "proto/base/check.h"
#include "tests/unit/control/private_database/scratch_directory.h"

namespace croft::control::store {

struct TestDatabase::Impl {
  private_database::ScratchDirectory directory;
  std::unique_ptr<private_database::PrivateDatabase> server;
  std::atomic<int> databases{0};
};

TestDatabase& TestDatabase::Get() {
  static TestDatabase database;
  return database;
}

TestDatabase::TestDatabase() : impl_(std::make_unique<Impl>()) {
  private_database::Options options;
  options.data_dir = impl_->directory.path();
  auto server = private_database::PrivateDatabase::Start(options);
  Check(server.ok(), std::string(server.status().message()));
  impl_->server = *std::move(server);
}

TestDatabase::~TestDatabase() = default;

std::string TestDatabase::MakeDatabase() {
  const std::string name = "test" + std::to_string(++impl_->databases);
  Execute(impl_->server->url(), "CREATE SCHEMA " + name);
  return impl_->server->url() + " options='-csearch_path=" + name + "'";
}

void TestDatabase::Execute(const std::string& url, const std::string& sql) {
  pqxx::connection connection(url);
  pqxx::nontransaction(connection).exec(sql);
}

std::string TestDatabase::Select(const std::string& url, const std::string& sql) {
  pqxx::connection connection(url);
  return pqxx::nontransaction(connection).exec1(sql)[0].c_str();
}

int TestDatabase::server_pid() const { return impl_->server->server_pid(); }

}  // namespace croft::control::store
