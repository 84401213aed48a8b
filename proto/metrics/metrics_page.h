// A page of metrics in Prometheus' text format (version 0.0.4). Values are put together when the
// page is asked for; nothing is kept. One thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace croft::metrics {

inline constexpr char kContentType[] = "text/plain; version=0.0.4; charset=utf-8";

using Labels = std::vector<std::pair<std::string, std::string>>;

class MetricsPage {
 public:
  MetricsPage();
  ~MetricsPage();

  // One name has one kind, one help text and the same label names wherever it is added.
  void AddCounter(const std::string& name, std::string_view help, const Labels& labels,
                  double value);
  void AddGauge(const std::string& name, std::string_view help, const Labels& labels, double value);
  // process_cpu_seconds_total and its like, as Prometheus' own libraries name them.
  void AddProcess();

  std::string Text() const;

 private:
  struct Families;
  std::unique_ptr<Families> families_;
};

}  // namespace croft::metrics
