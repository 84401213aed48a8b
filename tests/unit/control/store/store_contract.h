// What tests of every Store's promises run on: the fake, and PostgreSQL.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "control/store/pg_store.h"
#include "tests/unit/control/store/fake_store.h"
#include "tests/unit/control/store/test_database.h"

namespace croft::control::store {

// The parameter of such tests: whether the store is the fake.
inline std::unique_ptr<Store> MakeStore(bool fake) {
  if (fake) {
    return std::make_unique<FakeStore>();
  }
  auto store = OpenPgStore({.url = TestDatabase::Get().MakeDatabase()});
  EXPECT_TRUE(store.ok()) << store.status();
  return *std::move(store);
}

inline std::string NameOfStore(const testing::TestParamInfo<bool>& info) {
  return info.param ? "Fake" : "PostgreSQL";
}

}  // namespace croft::control::store
