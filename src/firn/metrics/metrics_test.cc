#include "firn/metrics/metrics.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace firn::metrics {
namespace {

using testing::HasSubstr;

class MetricsTest : public testing::Test {
 protected:
  Counter& Segments(const std::string& table) {
    return registry_.GetCounter({.name = "firn_wal_segments_total",
                                 .help = "Segments made durable.",
                                 .labels = {{"table", table}}});
  }
  Gauge& Memory() {
    return registry_.GetGauge({.name = "firn_core_memory_bytes", .help = "Memory."});
  }
  Histogram& Flush(const std::vector<double>& bounds) {
    return registry_.GetHistogram({.name = "firn_wal_flush_seconds",
                                   .help = "Time of a flush.",
                                   .labels = {{"table", "t"}}},
                                  bounds);
  }

  Registry registry_{SystemRuntime()};
};

TEST_F(MetricsTest, EmptyRegistryIsEmptyText) { EXPECT_EQ(registry_.Text(), ""); }

TEST_F(MetricsTest, FamiliesAndSeriesAreInOrder) {
  Segments("b").Increment();
  Segments("a").Increment(41);
  Segments("a").Increment();
  Memory().Set(1.5);
  EXPECT_EQ(registry_.Text(),
            "# HELP firn_core_memory_bytes Memory.\n"
            "# TYPE firn_core_memory_bytes gauge\n"
            "firn_core_memory_bytes 1.5\n"
            "# HELP firn_wal_segments_total Segments made durable.\n"
            "# TYPE firn_wal_segments_total counter\n"
            "firn_wal_segments_total{table=\"a\"} 42\n"
            "firn_wal_segments_total{table=\"b\"} 1\n");
}

TEST_F(MetricsTest, SameIdIsSameMetric) {
  EXPECT_EQ(&Segments("a"), &Segments("a"));
  EXPECT_NE(&Segments("a"), &Segments("b"));
}

TEST_F(MetricsTest, HistogramBucketsAreCumulative) {
  for (const double seconds : {0.05, 0.1, 0.10001, 2.0, 9.0}) {
    Flush({0.1, 1, 2.5}).Observe(seconds);
  }
  EXPECT_EQ(registry_.Text(),
            "# HELP firn_wal_flush_seconds Time of a flush.\n"
            "# TYPE firn_wal_flush_seconds histogram\n"
            "firn_wal_flush_seconds_bucket{le=\"0.1\",table=\"t\"} 2\n"
            "firn_wal_flush_seconds_bucket{le=\"1\",table=\"t\"} 3\n"
            "firn_wal_flush_seconds_bucket{le=\"2.5\",table=\"t\"} 4\n"
            "firn_wal_flush_seconds_bucket{le=\"+Inf\",table=\"t\"} 5\n"
            "firn_wal_flush_seconds_sum{table=\"t\"} 11.25001\n"
            "firn_wal_flush_seconds_count{table=\"t\"} 5\n");
}

TEST_F(MetricsTest, WhatIsNoNumberFallsIntoTheLastBucket) {
  Flush({1}).Observe(std::nan(""));
  EXPECT_THAT(Flush({1}).bucket_counts(), testing::ElementsAre(0, 1));
  EXPECT_THAT(registry_.Text(), HasSubstr("_sum{table=\"t\"} NaN\n"));
}

TEST_F(MetricsTest, LabelValuesAreEscaped) {
  Segments("a\\b\"c\nd{},").Increment();
  EXPECT_THAT(registry_.Text(), HasSubstr(R"({table="a\\b\"c\nd{},"} 1)"));
}

TEST_F(MetricsTest, HelpIsEscapedButItsQuotes) {
  registry_.GetGauge({.name = "firn_x_y_bytes", .help = "a \"b\"\\\nc"});
  EXPECT_THAT(registry_.Text(), HasSubstr("# HELP firn_x_y_bytes a \"b\"\\\\\\nc\n"));
}

TEST_F(MetricsTest, NumbersAreWrittenAsPrometheusReadsThem) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::vector<std::pair<double, std::string>> cases = {
      {0, "0"},
      {-3, "-3"},
      {1e15, "1000000000000000"},
      {1e300, "1e+300"},
      {0.1 + 0.2, "0.30000000000000004"},
      {kInfinity, "+Inf"},
      {-kInfinity, "-Inf"},
      {std::nan(""), "NaN"}};
  for (const auto& [value, text] : cases) {
    Memory().Set(value);
    EXPECT_THAT(registry_.Text(), HasSubstr("\nfirn_core_memory_bytes " + text + "\n"));
  }
}

TEST_F(MetricsTest, ReadsWhatIsCountedElsewhere) {
  std::int64_t puts = 7;
  registry_.ReadCounter({.name = "firn_storage_requests_total",
                         .help = "Requests.",
                         .labels = {{"kind", "put"}}},
                        [&] { return puts; });
  registry_.ReadGauge({.name = "firn_core_memory_bytes", .help = "Memory."},
                      [] { return 0.5; });
  puts = 8;
  EXPECT_THAT(registry_.Text(), HasSubstr("firn_storage_requests_total{kind=\"put\"} 8"));
  EXPECT_THAT(registry_.Text(), HasSubstr("\nfirn_core_memory_bytes 0.5\n"));
}

TEST_F(MetricsTest, ConcurrentIncrementsAllCount) {
  constexpr int kThreads = 4;
  constexpr int kIncrements = 10'000;
  {
    std::vector<Thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back(SystemRuntime(), "counter", [&] {
        for (int n = 0; n < kIncrements; ++n) {
          Segments("a").Increment();
          Memory().Add(1);
          Flush({1}).Observe(2);
        }
      });
    }
  }
  EXPECT_EQ(Segments("a").value(), kThreads * kIncrements);
  EXPECT_EQ(Memory().value(), kThreads * kIncrements);
  EXPECT_EQ(Flush({1}).sum(), 2.0 * kThreads * kIncrements);
}

class MetricsDeathTest : public MetricsTest {
 protected:
  // A fork of a process with threads, such as Arrow's, may hang.
  MetricsDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(MetricsDeathTest, NamesThatPrometheusWouldNotTakeAreCaught) {
  const auto gauge = [&](const char* name, const Labels& labels = {}) {
    registry_.GetGauge({.name = name, .help = "", .labels = labels});
  };
  EXPECT_DEATH(gauge("wal_segments"), "metric 'wal_segments'");
  EXPECT_DEATH(gauge("firn_wal-segments"), "metric 'firn_wal-segments'");
  EXPECT_DEATH(gauge("firn_wal_segments_total"), "is a gauge");
  EXPECT_DEATH(gauge("firn_wal_lag_seconds", {{"1x", ""}}), "label '1x'");
  EXPECT_DEATH(gauge("firn_wal_lag_seconds", {{"le", ""}}), "label 'le'");
}

TEST_F(MetricsDeathTest, OneNameOneMeaning) {
  Segments("a");
  Flush({1, 2});
  EXPECT_DEATH(registry_.GetCounter({.name = "firn_wal_segments_total", .help = "?"}),
               "described in two ways");
  EXPECT_DEATH(Flush({1, 3}), "two sets of buckets");
  EXPECT_DEATH(Histogram({2, 1}), "must ascend");
  EXPECT_DEATH(registry_.ReadCounter({.name = "firn_wal_segments_total",
                                      .help = "Segments made durable.",
                                      .labels = {{"table", "a"}}},
                                     [] { return std::int64_t{1}; }),
               "counted here too");
}

}  // namespace
}  // namespace firn::metrics
