#include "node/agent/counter_collector.h"

#include <absl/hash/hash.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "proto/base/error.h"

namespace croft::node::agent {
namespace {

using Values = std::array<std::int64_t, counters::kCountersMax>;

// How many of the row's slots have a meaning.
std::size_t CounterCount(counters::InstanceType type) {
  return std::min(counters::Catalogue(type).size(), counters::kCountersMax);
}

// A worker may write anything into its own memory, so a sum must not overflow.
void AddValues(counters::InstanceType type, const std::int64_t* values,
               std::vector<std::int64_t>& sum) {
  sum.resize(CounterCount(type));
  for (std::size_t i = 0; i < sum.size(); ++i) {
    if (__builtin_add_overflow(sum[i], std::max<std::int64_t>(0, values[i]), &sum[i])) {
      sum[i] = std::numeric_limits<std::int64_t>::max();
    }
  }
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
  std::erase_if(sources_, [&](const Source& source) {
    if (source.name == name) {
      KeepSums(source);
    }
    return source.name == name;
  });
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
    const auto oldest = std::ranges::find_if(sources_, is_ended);
    KeepSums(*oldest);
    sources_.erase(oldest);
  }
}

void CounterCollector::ForgetReported() {
  for (Source& source : sources_) {
    source.reported.clear();
  }
  all_due_ = true;
}

std::vector<v1::CounterReport> CounterCollector::Collect() {
  std::vector<v1::CounterReport> reports;
  for (Source& source : sources_) {
    CollectSource(source, reports);
  }
  std::erase_if(sources_, [this](const Source& source) {
    if (source.ended) {
      KeepSums(source);
    }
    return source.ended;
  });
  if (std::exchange(all_due_, false)) {
    reports.emplace_back();
  }
  return reports;
}

void CounterCollector::KeepSums(const Source& source) {
  source.memory->ForEach([this](counters::InstanceType type, std::int64_t,
                                const std::int64_t raw[counters::kCountersMax]) {
    Values values{};
    std::copy_n(raw, CounterCount(type), values.begin());
    ZeroGauges(type, values);
    AddValues(type, values.data(), ended_[type]);
  });
}

std::vector<std::int64_t> CounterCollector::Sum(counters::InstanceType type) const {
  const auto ended = ended_.find(type);
  std::vector<std::int64_t> sum;
  if (ended != ended_.end()) {
    sum = ended->second;
  }
  for (const auto& [uid, values] : SumByInstance(type)) {
    AddValues(type, values.data(), sum);
  }
  return sum;
}

std::map<std::int64_t, std::vector<std::int64_t>> CounterCollector::SumByInstance(
    counters::InstanceType type) const {
  std::map<std::int64_t, std::vector<std::int64_t>> sums;
  for (const Source& source : sources_) {
    source.memory->ForEach([&](counters::InstanceType found, std::int64_t uid,
                               const std::int64_t raw[counters::kCountersMax]) {
      if (found == type && CounterCount(type) > 0) {
        AddValues(type, raw, sums[uid]);
      }
    });
  }
  return sums;
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
