#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "firn/core/runtime.h"

namespace firn::metrics {

/// A count that only grows. Thread-safe, one atomic addition an increment.
class Counter {
 public:
  void Increment(std::int64_t by = 1) { value_.fetch_add(by, std::memory_order_relaxed); }
  std::int64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> value_ = 0;
};

/// A figure that goes up and down. Thread-safe.
class Gauge {
 public:
  void Set(double value) { value_.store(value, std::memory_order_relaxed); }
  void Add(double by) { value_.fetch_add(by, std::memory_order_relaxed); }
  double value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_ = 0;
};

/// How many observations fell into each of some fixed buckets. Thread-safe.
class Histogram {
 public:
  /// `upper_bounds` (inclusive) ascend; a last bucket without a bound is added.
  explicit Histogram(std::vector<double> upper_bounds);

  void Observe(double value);

  const std::vector<double>& upper_bounds() const { return upper_bounds_; }
  /// Observations per bucket, not cumulated; one more than there are bounds.
  std::vector<std::int64_t> bucket_counts() const;
  double sum() const { return sum_.load(std::memory_order_relaxed); }

 private:
  const std::vector<double> upper_bounds_;
  std::vector<std::atomic<std::int64_t>> counts_;
  std::atomic<double> sum_ = 0;
};

/// Values by label name, in the order in which they are written.
using Labels = std::map<std::string, std::string>;

struct MetricId {
  /// `firn_<module>_<what>_<unit>`; of a counter the end is `_total`.
  std::string name;
  /// One sentence for whoever reads /metrics.
  std::string help;
  /// Any text as values: table names and the like.
  Labels labels = {};
};

/// All metrics of a process, handed to whoever counts. Thread-safe.
///
/// The first request for a name and labels makes the metric, later ones get the same; the
/// reference holds as long as the registry. Names, help and buckets are written in the
/// program: CHECKed to have the form that Prometheus asks for, and to be the same each
/// time.
class Registry {
 public:
  /// `runtime` must outlive the registry.
  explicit Registry(Runtime& runtime) : mutex_(runtime) {}

  Counter& GetCounter(const MetricId& id);
  Gauge& GetGauge(const MetricId& id);
  Histogram& GetHistogram(const MetricId& id, const std::vector<double>& upper_bounds);

  /// For what is counted elsewhere, in a module that knows no metrics: `read` is called
  /// at each exposition, must not use the registry, and must stay callable as long as the
  /// registry is exposed. Asking again for the same name and labels replaces it.
  void ReadCounter(const MetricId& id, std::function<std::int64_t()> read);
  void ReadGauge(const MetricId& id, std::function<double()> read);

  /// Prometheus' text format, version 0.0.4; families in order of name, series in order
  /// of labels.
  std::string Text() const;

 private:
  using CounterReader = std::function<std::int64_t()>;
  using GaugeReader = std::function<double()>;
  using Series = std::variant<std::unique_ptr<Counter>, std::unique_ptr<Gauge>,
                              std::unique_ptr<Histogram>, CounterReader, GaugeReader>;
  struct Family {
    std::string help;
    std::string_view type;
    std::map<Labels, Series> series;
  };

  template <typename T, typename MakeMetric>
  T& GetOrMake(const MetricId& id, std::string_view type, const MakeMetric& make);
  template <typename Reader>
  void Read(const MetricId& id, std::string_view type, Reader read);
  /// REQUIRES: mutex_ is held.
  Family& FamilyOf(const MetricId& id, std::string_view type);

  mutable Mutex mutex_;
  std::map<std::string, Family> families_;  // by name; guarded by mutex_
};

/// The value of the HTTP header Content-Type that goes with Registry::Text.
inline constexpr std::string_view kTextContentType =
    "text/plain; version=0.0.4; charset=utf-8";

}  // namespace firn::metrics
