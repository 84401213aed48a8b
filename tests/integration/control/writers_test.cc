// Many writers at once, on one object and on many: each write succeeds or is refused as busy, in
// so many words, and what succeeded is there.
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <map>
#include <set>
#include <thread>

#include "croft/v1/account.pb.h"
#include "croft/v1/change.pb.h"
#include "croft/v1/farm.pb.h"
#include "croft/v1/organization.pb.h"
#include "croft/v1/store.pb.h"
#include "tests/integration/control/running_control.h"

namespace croft::tests {
namespace {

using grpc::StatusCode;

constexpr int kThreads = 64;
constexpr int kWritesEach = 5;
constexpr int kCallsAtOnce = 10'000;
constexpr int kConnections = 16;
constexpr std::size_t kMemoryMax = 256 << 20;

class Writers : public testing::Test {
 protected:
  void SetUp() override {
    const std::string id = NewFarmId();
    farm_ = "farms/" + id;
    v1::Farm farm;
    ASSERT_TRUE(client_
                    .Call<v1::CreateFarmRequest>("croft.v1.FarmService/CreateFarm",
                                                 "farm_id: '" + id + "'", farm)
                    .ok());
    v1::FileStore store;
    ASSERT_TRUE(client_
                    .Call<v1::CreateStoreRequest>(
                        "croft.v1.StoreService/CreateStore",
                        "parent: '" + farm_ +
                            "' store_id: 'files' store { path: '/srv/w' homes { fan_out: 900 "
                            "fan_out: 900 } }",
                        store)
                    .ok());
  }

  // Whether the write is to be tried again; fails the test for any other failure.
  static bool IsRefusedAsBusy(const grpc::Status& status) {
    const bool is_busy = status.error_code() == StatusCode::RESOURCE_EXHAUSTED ||
                         status.error_code() == StatusCode::ABORTED;
    EXPECT_TRUE(is_busy && DetailOf(status).retryable())
        << status.error_code() << " " << status.error_message();
    return is_busy;
  }
  std::size_t CountAccounts() {
    std::set<std::string> names;
    v1::ListAccountsRequest request;
    request.set_parent(farm_);
    request.set_page_size(1000);
    v1::ListAccountsResponse page;
    do {
      page.Clear();
      const grpc::Status status =
          client_.Call("croft.v1.AccountService/ListAccounts", request, page);
      EXPECT_TRUE(status.ok()) << status.error_message();
      for (const v1::Account& account : page.accounts()) {
        EXPECT_TRUE(names.insert(account.name()).second) << account.name();
      }
      request.set_page_token(page.next_page_token());
    } while (!page.next_page_token().empty());
    return names.size();
  }

  // So many calls before the first answer is awaited, over several connections; their answers, in
  // the order of the calls.
  std::vector<grpc::Status> CallAtOnce(const std::string& method,
                                       const std::function<std::string(int)>& request) {
    struct Pending {
      grpc::ClientContext context;
      grpc::ByteBuffer answer;
      grpc::Status status;
      std::unique_ptr<grpc::GenericClientAsyncResponseReader> reader;
    };
    std::vector<std::unique_ptr<grpc::GenericStub>> stubs;
    for (int i = 0; i < kConnections; ++i) {
      stubs.push_back(std::make_unique<grpc::GenericStub>(control_.Connect()));
    }
    grpc::CompletionQueue queue;
    std::vector<std::unique_ptr<Pending>> calls;
    for (int i = 0; i < kCallsAtOnce; ++i) {
      const grpc::Slice slice(request(i));
      auto call = std::make_unique<Pending>();
      client_.Authorize(call->context);
      call->context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(120));
      call->reader = stubs[static_cast<std::size_t>(i % kConnections)]->PrepareUnaryCall(
          &call->context, method, grpc::ByteBuffer(&slice, 1), &queue);
      call->reader->StartCall();
      call->reader->Finish(&call->answer, &call->status, call.get());
      calls.push_back(std::move(call));
    }
    std::vector<grpc::Status> answers;
    for (int i = 0; i < kCallsAtOnce; ++i) {
      void* tag = nullptr;
      bool ok = false;
      EXPECT_TRUE(queue.Next(&tag, &ok));
    }
    for (const auto& call : calls) {
      answers.push_back(call->status);
    }
    return answers;
  }

  RunningControl& control_ = RunningControl::Shared();
  Client client_{control_.Connect(), control_.token()};
  std::string farm_;
};

TEST_F(Writers, OnOneObjectEachSuccessIsAChange) {
  v1::Account account;
  ASSERT_TRUE(client_
                  .Call<v1::CreateAccountRequest>(
                      "croft.v1.AccountService/CreateAccount",
                      "parent: '" + farm_ + "' account_id: 'one' account {}", account)
                  .ok());
  std::atomic<int> succeeded{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < kWritesEach; ++i) {
        v1::Account written;
        const grpc::Status status = client_.Call<v1::UpdateAccountRequest>(
            "croft.v1.AccountService/UpdateAccount",
            "account { name: '" + account.name() + "' labels { key: 'writer' value: '" +
                std::to_string(thread) + "." + std::to_string(i) +
                "' } } update_mask { paths: 'labels.writer' }",
            written);
        if (status.ok()) {
          ++succeeded;
          EXPECT_EQ(written.labels().at("writer"),
                    std::to_string(thread) + "." + std::to_string(i));
        } else {
          IsRefusedAsBusy(status);
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_GT(succeeded, 0);
  int changes = 0;
  v1::ListChangesRequest request;
  request.set_resource(account.name());
  request.set_page_size(1000);
  v1::ListChangesResponse page;
  do {
    page.Clear();
    const grpc::Status status = client_.Call("croft.v1.ChangeService/ListChanges", request, page);
    ASSERT_TRUE(status.ok()) << status.error_message();
    changes += page.changes_size();
    request.set_page_token(page.next_page_token());
  } while (!page.next_page_token().empty());
  EXPECT_EQ(changes, succeeded + 1);
}

TEST_F(Writers, OnManyObjectsWhatSucceededIsThere) {
  std::atomic<std::size_t> succeeded{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < kWritesEach; ++i) {
        v1::Account written;
        const grpc::Status status = client_.Call<v1::CreateAccountRequest>(
            "croft.v1.AccountService/CreateAccount",
            "parent: '" + farm_ + "' account_id: 'w" + std::to_string(thread) + "-" +
                std::to_string(i) + "' account {}",
            written);
        succeeded += status.ok() ? 1 : 0;
        EXPECT_TRUE(status.ok() || IsRefusedAsBusy(status));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(CountAccounts(), succeeded);
}

// More calls under way than control queues.
TEST_F(Writers, TenThousandAtOnceOnManyObjectsAreDoneOrRefused) {
  const std::vector<grpc::Status> answers =
      CallAtOnce("/croft.v1.AccountService/CreateAccount", [&](int i) {
        v1::CreateAccountRequest request;
        request.set_parent(farm_);
        request.set_account_id("c" + std::to_string(i));
        request.mutable_account();
        return request.SerializeAsString();
      });
  std::size_t succeeded = 0;
  for (const grpc::Status& answer : answers) {
    succeeded += answer.ok() ? 1 : 0;
    EXPECT_TRUE(answer.ok() || IsRefusedAsBusy(answer));
  }
  EXPECT_GT(succeeded, 0U);
  EXPECT_EQ(CountAccounts(), succeeded);
  EXPECT_LT(control_.PeakMemory(), kMemoryMax);
}

// All have read the same version: one write is done, the others are told so.
TEST_F(Writers, OfTenThousandAtOnceOnOneVersionOneIsDone) {
  v1::Account account;
  ASSERT_TRUE(client_
                  .Call<v1::CreateAccountRequest>(
                      "croft.v1.AccountService/CreateAccount",
                      "parent: '" + farm_ + "' account_id: 'one' account {}", account)
                  .ok());
  const std::vector<grpc::Status> answers =
      CallAtOnce("/croft.v1.AccountService/UpdateAccount", [&](int i) {
        v1::UpdateAccountRequest request;
        request.mutable_account()->set_name(account.name());
        request.mutable_account()->set_etag(account.etag());
        (*request.mutable_account()->mutable_labels())["writer"] = std::to_string(i);
        request.mutable_update_mask()->add_paths("labels.writer");
        return request.SerializeAsString();
      });
  std::map<std::string, int> reasons;
  std::string winner;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (answers[i].ok()) {
      winner = std::to_string(i);
    }
    ++reasons[answers[i].ok() ? "" : DetailOf(answers[i]).reason()];
    EXPECT_TRUE(answers[i].ok() || answers[i].error_code() == StatusCode::ABORTED ||
                IsRefusedAsBusy(answers[i]));
  }
  EXPECT_EQ(reasons[""], 1);
  EXPECT_GT(reasons["ETAG_MISMATCH"], 0);
  v1::Account now;
  ASSERT_TRUE(client_
                  .Call<v1::GetAccountRequest>("croft.v1.AccountService/GetAccount",
                                               "name: '" + account.name() + "'", now)
                  .ok());
  EXPECT_EQ(now.labels().at("writer"), winner);
  EXPECT_LT(control_.PeakMemory(), kMemoryMax);
}

}  // namespace
}  // namespace croft::tests
