#include "proto/metrics/metrics_page.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <map>
#include <system_error>

namespace croft::metrics {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

ClientMetric MakeMetric(const Labels& labels) {
  ClientMetric metric;
  for (const auto& [name, value] : labels) {
    ClientMetric::Label& label = metric.label.emplace_back();
    label.name = name;
    label.value = value;
  }
  return metric;
}

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

double ResidentBytes() {
  double pages = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "re");
  if (file != nullptr) {
    double size = 0;
    if (std::fscanf(file, "%lf %lf", &size, &pages) != 2) {
      pages = 0;
    }
    std::fclose(file);
  }
  return pages * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

double OpenDescriptors() {
  std::error_code failed;
  double count = 0;
  for (std::filesystem::directory_iterator at("/proc/self/fd", failed), end; !failed && at != end;
       at.increment(failed)) {
    ++count;
  }
  return count;
}

}  // namespace

struct MetricsPage::Families {
  MetricFamily& Find(const std::string& name, std::string_view help, MetricType type) {
    MetricFamily& family = by_name[name];
    family.name = name;
    family.help = help;
    family.type = type;
    return family;
  }

  std::map<std::string, MetricFamily> by_name;
};

MetricsPage::MetricsPage() : families_(std::make_unique<Families>()) {}
MetricsPage::~MetricsPage() = default;

void MetricsPage::AddCounter(const std::string& name, std::string_view help, const Labels& labels,
                             double value) {
  ClientMetric metric = MakeMetric(labels);
  metric.counter.value = value;
  families_->Find(name, help, MetricType::Counter).metric.push_back(std::move(metric));
}

void MetricsPage::AddGauge(const std::string& name, std::string_view help, const Labels& labels,
                           double value) {
  ClientMetric metric = MakeMetric(labels);
  metric.gauge.value = value;
  families_->Find(name, help, MetricType::Gauge).metric.push_back(std::move(metric));
}

void MetricsPage::AddProcess() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  AddCounter("process_cpu_seconds_total", "Processor time of this process.", {},
             Seconds(usage.ru_utime) + Seconds(usage.ru_stime));
  AddGauge("process_resident_memory_bytes", "Memory this process has in RAM.", {}, ResidentBytes());
  AddGauge("process_open_fds", "Descriptors this process has open.", {}, OpenDescriptors());
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  AddGauge("process_max_fds", "Descriptors this process may have open.", {},
           static_cast<double>(limit.rlim_cur));
}

std::string MetricsPage::Text() const {
  std::vector<MetricFamily> families;
  families.reserve(families_->by_name.size());
  for (const auto& [name, family] : families_->by_name) {
    families.push_back(family);
  }
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace croft::metrics
