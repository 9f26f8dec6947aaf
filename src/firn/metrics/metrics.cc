#include "firn/metrics/metrics.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "firn/core/status.h"

namespace firn::metrics {
namespace {

constexpr std::string_view kCounterType = "counter";
constexpr std::string_view kGaugeType = "gauge";
constexpr std::string_view kHistogramType = "histogram";
/// The label that a histogram's buckets have of their own.
constexpr char kBucketLabel[] = "le";

bool IsNameText(std::string_view text) {
  const auto is_name_character = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !text.empty() && !(text[0] >= '0' && text[0] <= '9') &&
         std::ranges::all_of(text, is_name_character);
}

void CheckId(const MetricId& id, std::string_view type) {
  FIRN_CHECK(IsNameText(id.name) && id.name.starts_with("firn_"), "metric '{}'", id.name);
  FIRN_CHECK(id.name.ends_with("_total") == (type == kCounterType), "metric '{}' is a {}",
             id.name, type);
  for (const auto& [label, value] : id.labels) {
    FIRN_CHECK(IsNameText(label) && label != kBucketLabel, "metric '{}', label '{}'",
               id.name, label);
  }
}

std::string Escaped(std::string_view text, bool with_quotes) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\n') {
      escaped += "\\n";
      continue;
    }
    if (c == '\\' || (with_quotes && c == '"')) escaped.push_back('\\');
    escaped.push_back(c);
  }
  return escaped;
}

std::string NumberText(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", value);
}

std::string LabelText(const Labels& labels) {
  std::string text;
  for (const auto& [label, value] : labels) {
    text += fmt::format("{}{}=\"{}\"", text.empty() ? "" : ",", label,
                        Escaped(value, /*with_quotes=*/true));
  }
  return text.empty() ? text : "{" + text + "}";
}

/// Writes one series of a family, whatever holds it.
class SeriesWriter {
 public:
  SeriesWriter(std::string& text, const std::string& name, const Labels& labels)
      : text_(text), name_(name), labels_(labels) {}

  void operator()(const std::unique_ptr<Counter>& counter) const {
    Line("", labels_, std::to_string(counter->value()));
  }
  void operator()(const std::unique_ptr<Gauge>& gauge) const {
    Line("", labels_, NumberText(gauge->value()));
  }
  void operator()(const std::function<std::int64_t()>& read) const {
    Line("", labels_, std::to_string(read()));
  }
  void operator()(const std::function<double()>& read) const {
    Line("", labels_, NumberText(read()));
  }
  void operator()(const std::unique_ptr<Histogram>& histogram) const {
    const std::vector<std::int64_t> counts = histogram->bucket_counts();
    const std::vector<double>& bounds = histogram->upper_bounds();
    std::int64_t cumulated = 0;
    Labels labels = labels_;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      cumulated += counts[i];
      labels[kBucketLabel] = i < bounds.size() ? NumberText(bounds[i]) : "+Inf";
      Line("_bucket", labels, std::to_string(cumulated));
    }
    Line("_sum", labels_, NumberText(histogram->sum()));
    Line("_count", labels_, std::to_string(cumulated));
  }

 private:
  void Line(std::string_view suffix, const Labels& labels, std::string_view value) const {
    text_ += fmt::format("{}{}{} {}\n", name_, suffix, LabelText(labels), value);
  }

  std::string& text_;
  const std::string& name_;
  const Labels& labels_;
};

}  // namespace

Histogram::Histogram(std::vector<double> upper_bounds)
    : upper_bounds_(std::move(upper_bounds)), counts_(upper_bounds_.size() + 1) {
  FIRN_CHECK(std::ranges::is_sorted(upper_bounds_, std::ranges::less_equal()),
             "bucket bounds must ascend");
}

void Histogram::Observe(double value) {
  // Written so that NaN, which is not below any bound, falls into the last bucket.
  const auto bucket = std::ranges::find_if(
      upper_bounds_, [value](double bound) { return value <= bound; });
  counts_[static_cast<std::size_t>(bucket - upper_bounds_.begin())].fetch_add(
      1, std::memory_order_relaxed);
  sum_.fetch_add(value, std::memory_order_relaxed);
}

std::vector<std::int64_t> Histogram::bucket_counts() const {
  std::vector<std::int64_t> counts;
  for (const std::atomic<std::int64_t>& count : counts_) {
    counts.push_back(count.load(std::memory_order_relaxed));
  }
  return counts;
}

Registry::Family& Registry::FamilyOf(const MetricId& id, std::string_view type) {
  CheckId(id, type);
  const auto [entry, is_new] =
      families_.try_emplace(id.name, Family{.help = id.help, .type = type, .series = {}});
  Family& family = entry->second;
  FIRN_CHECK(family.help == id.help && family.type == type,
             "metric '{}' is described in two ways", id.name);
  return family;
}

template <typename T, typename MakeMetric>
T& Registry::GetOrMake(const MetricId& id, std::string_view type,
                       const MakeMetric& make) {
  MutexLock lock(mutex_);
  auto& series = FamilyOf(id, type).series;
  auto found = series.find(id.labels);
  if (found == series.end()) found = series.emplace(id.labels, make()).first;
  const auto* metric = std::get_if<std::unique_ptr<T>>(&found->second);
  FIRN_CHECK(metric != nullptr, "metric '{}' is read from elsewhere", id.name);
  return **metric;
}

Counter& Registry::GetCounter(const MetricId& id) {
  return GetOrMake<Counter>(id, kCounterType, [] { return std::make_unique<Counter>(); });
}

Gauge& Registry::GetGauge(const MetricId& id) {
  return GetOrMake<Gauge>(id, kGaugeType, [] { return std::make_unique<Gauge>(); });
}

Histogram& Registry::GetHistogram(const MetricId& id,
                                  const std::vector<double>& upper_bounds) {
  Histogram& histogram = GetOrMake<Histogram>(
      id, kHistogramType, [&] { return std::make_unique<Histogram>(upper_bounds); });
  FIRN_CHECK(histogram.upper_bounds() == upper_bounds,
             "metric '{}' has two sets of buckets", id.name);
  return histogram;
}

template <typename Reader>
void Registry::Read(const MetricId& id, std::string_view type, Reader read) {
  MutexLock lock(mutex_);
  Series& series =
      FamilyOf(id, type).series.try_emplace(id.labels, Reader()).first->second;
  FIRN_CHECK(std::holds_alternative<Reader>(series), "metric '{}' is counted here too",
             id.name);
  series = std::move(read);
}

void Registry::ReadCounter(const MetricId& id, CounterReader read) {
  Read(id, kCounterType, std::move(read));
}

void Registry::ReadGauge(const MetricId& id, GaugeReader read) {
  Read(id, kGaugeType, std::move(read));
}

std::string Registry::Text() const {
  MutexLock lock(mutex_);
  std::string text;
  for (const auto& [name, family] : families_) {
    text += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name,
                        Escaped(family.help, /*with_quotes=*/false), name, family.type);
    for (const auto& [labels, series] : family.series) {
      std::visit(SeriesWriter(text, name, labels), series);
    }
  }
  return text;
}

}  // namespace firn::metrics
