#include "node/agent/counter_collector.h"

#include <absl/hash/hash.h>

#include <algorithm>
#include <array>
#include <utility>

#include "proto/base/error.h"

namespace croft::node::agent {
namespace {

using Values = std::array<std::int64_t, counters::kCountersMax>;

// How many of the row's slots have a meaning.
std::size_t CounterCount(counters::InstanceType type) {
  return std::min(counters::Catalogue(type).size(), counters::kCountersMax);
}

void ZeroGauges(counters::InstanceType type, Values& values) {
  const auto facts = counters::Catalogue(type);
  for (std::size_t i = 0; i < CounterCount(type); ++i) {
    if (facts[i].gauge) {
      values[i] = 0;
    }
  }
}

}  // namespace

std::size_t CounterCollector::RowKeyHash::operator()(const RowKey& key) const {
  return absl::HashOf(key.type, key.uid);
}

absl::Status CounterCollector::AddSource(const std::string& name, int memory_fd) {
  auto memory = counters::CounterMemory::Map(memory_fd, /*writable=*/false);
  if (!memory.ok()) {
    return Error(memory.status().code(), "counter memory of {}: {}", name,
                 std::string(memory.status().message()));
  }
  const auto is_known = [&](const Source& source) {
    return source.name == name && source.memory->boot_id() == (*memory)->boot_id();
  };
  if (std::ranges::any_of(sources_, is_known)) {
    return absl::OkStatus();  // the listener's memory outlives its processes
  }
  std::erase_if(sources_, [&](const Source& source) { return source.name == name; });
  sources_.push_back(
      Source{.name = name, .memory = *std::move(memory), .ended = false, .reported = {}});
  return absl::OkStatus();
}

void CounterCollector::EndSource(const std::string& name) {
  for (Source& source : sources_) {
    source.ended = source.ended || source.name == name;
  }
  const auto is_ended = [](const Source& source) { return source.ended; };
  if (static_cast<std::size_t>(std::ranges::count_if(sources_, is_ended)) > kEndedMax) {
    sources_.erase(std::ranges::find_if(sources_, is_ended));
  }
}

void CounterCollector::ForgetReported() {
  for (Source& source : sources_) {
    source.reported.clear();
  }
}

std::vector<v1::CounterReport> CounterCollector::Collect() {
  std::vector<v1::CounterReport> reports;
  for (Source& source : sources_) {
    CollectSource(source, reports);
  }
  std::erase_if(sources_, [](const Source& source) { return source.ended; });
  return reports;
}

void CounterCollector::CollectSource(Source& source, std::vector<v1::CounterReport>& reports) {
  v1::CounterReport* report = nullptr;
  const auto visit = [&](counters::InstanceType type, std::int64_t uid,
                         const std::int64_t raw[counters::kCountersMax]) {
    const std::size_t count = CounterCount(type);
    if (count == 0) {
      return;  // a worker may write anything into its own memory
    }
    Values values{};
    std::copy_n(raw, count, values.begin());
    if (source.ended) {
      ZeroGauges(type, values);
    }
    const std::size_t hash = absl::HashOf(values);
    const auto [entry, is_new] =
        source.reported.try_emplace(RowKey{static_cast<std::uint32_t>(type), uid}, hash);
    if (!is_new && std::exchange(entry->second, hash) == hash) {
      return;
    }
    if (report == nullptr || report->instances_size() >= kRowsPerReportMax) {
      report = &reports.emplace_back();
      report->set_boot_id(source.memory->boot_id());
      report->set_source(source.name);
    }
    v1::CounterInstance* instance = report->add_instances();
    instance->set_type(static_cast<std::uint32_t>(type));
    instance->set_uid(uid);
    instance->mutable_values()->Add(values.begin(),
                                    values.begin() + static_cast<std::ptrdiff_t>(count));
  };
  source.memory->ForEach(visit);
}

}  // namespace croft::node::agent
