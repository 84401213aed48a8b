#include "node/worker/store/stores.h"

namespace croft::node::worker::store {
namespace {

// Beyond this, stores that no connection names any more are dropped.
constexpr std::size_t kStoresKept = 256;

}  // namespace

std::shared_ptr<Store> Stores::Get(std::int64_t uid, const std::string& path) {
  auto stores = stores_.Lock();
  std::shared_ptr<Store>& store = (*stores)[{uid, path}];
  if (store == nullptr) {
    store = std::make_shared<Store>(uid, path, clock_,
                                    counters_ == nullptr
                                        ? counters::Row()
                                        : counters_->GetRow(counters::InstanceType::kStore, uid));
  }
  std::shared_ptr<Store> result = store;
  if (stores->size() > kStoresKept) {
    std::erase_if(*stores, [](const auto& entry) { return entry.second.use_count() == 1; });
  }
  return result;
}

}  // namespace croft::node::worker::store
