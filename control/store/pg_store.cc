#include "control/store/pg_store.h"

#include <csignal>

#include "control/store/migrations.h"
#include "control/store/pg_store_impl.h"
#include "control/store/pg_transaction.h"
#include "proto/base/error.h"

namespace croft::control::store {
namespace {

constexpr int kRepeatsMax = 3;

}  // namespace

absl::StatusOr<std::unique_ptr<Store>> OpenPgStore(const PgOptions& given) {
  std::signal(SIGPIPE,
              SIG_IGN);  // a lost server is an error of the call, not the end of the process
  PgOptions options = given;
  options.url = WithDefaults(given);
  PgOptions patient = options;
  patient.statement_timeout = patient.lock_timeout = std::chrono::minutes(10);
  patient.answer_timeout = patient.statement_timeout + std::chrono::seconds(5);
  AnswerWatch watch;
  auto connection = Connection::Open(patient, watch);
  if (!connection.ok()) {
    return connection.status();
  }
  if (absl::Status status = Migrate(**connection); !status.ok()) {
    return status;
  }
  return std::make_unique<PgStore>(options);
}

absl::StatusOr<std::unique_ptr<Transaction>> PgStore::Begin() {
  return PgTransaction::Begin(pool_);
}

absl::Status PgStore::Run(const std::function<absl::Status(Connection&)>& work) {
  absl::Status status;
  for (int attempt = 0; attempt < kRepeatsMax; ++attempt) {
    auto lease = pool_.Acquire();
    if (!lease.ok()) {
      return lease.status();
    }
    status = work(**lease);
    if (status.ok()) {
      return status;
    }
    const bool broken = (*lease)->broken();
    if (broken) {
      lease->Discard();
      pool_.DropIdle();
    } else {
      (*lease)->Execute("ROLLBACK").IgnoreError();  // no transaction: a warning of the server
    }
    const bool again = broken ? attempt == 0 : absl::IsAborted(status);
    if (!again) {
      return status;
    }
  }
  return status;
}

absl::StatusOr<Rows> PgStore::Query(std::string_view sql, const Params& params) {
  Rows answer;
  const absl::Status status = Run([&](Connection& connection) {
    auto rows = connection.Query(sql, params);
    if (!rows.ok()) {
      return rows.status();
    }
    answer = *std::move(rows);
    return absl::OkStatus();
  });
  if (!status.ok()) {
    return status;
  }
  return answer;
}

}  // namespace croft::control::store
