#include "firn/jobs/dead_letter_counts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/core/fake_runtime.h"

namespace firn::jobs {
namespace {

using sources::ReasonClass;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class DeadLetterCountsTest : public ::testing::Test {
 protected:
  void Count(ReasonClass reason, int times) {
    sources::ReasonCounts counts;
    for (int i = 0; i < times; ++i) counts.Add(reason);
    counts_.Count("db.t", counts);
  }

  std::string Metrics() { return metrics_.Text(); }

  FakeRuntime runtime_;
  metrics::Registry metrics_{runtime_};
  std::vector<std::string> told_;
  EventSink events_ = [this](EventLevel, const std::string& text) {
    told_.push_back(text);
  };
  DeadLetterCounts counts_{
      runtime_, metrics_, events_, {.records = 10, .interval = seconds(60)}};
};

TEST_F(DeadLetterCountsTest, CountsByClass) {
  Count(ReasonClass::kMalformed, 3);
  Count(ReasonClass::kUnknownColumn, 1);
  const std::string name = "firn_dead_letters_records_total";
  EXPECT_THAT(Metrics(), HasSubstr(name + R"({reason="malformed",table="db.t"} 3)"));
  EXPECT_THAT(Metrics(), HasSubstr(name + R"({reason="unknown_column",table="db.t"} 1)"));
  EXPECT_THAT(Metrics(), HasSubstr(name + R"({reason="invalid_value",table="db.t"} 0)"));
}

TEST_F(DeadLetterCountsTest, TellsOnceAnIntervalThatThereAreMany) {
  Count(ReasonClass::kMalformed, 9);
  EXPECT_THAT(told_, ElementsAre());
  EXPECT_THAT(Metrics(), HasSubstr(R"(firn_dead_letters_alarm{table="db.t"} 0)"));
  Count(ReasonClass::kMalformed, 1);
  EXPECT_THAT(told_, ElementsAre(HasSubstr("10 or more within 60 s; the last: 1 malf")));
  EXPECT_THAT(Metrics(), HasSubstr(R"(firn_dead_letters_alarm{table="db.t"} 1)"));
  Count(ReasonClass::kMalformed, 100);
  EXPECT_EQ(told_.size(), 1U);
  runtime_.Advance(seconds(60));
  Count(ReasonClass::kMalformed, 10);
  EXPECT_EQ(told_.size(), 2U);
}

TEST_F(DeadLetterCountsTest, FewOverALongTimeAreNoAlarm) {
  for (int i = 0; i < 20; ++i) {
    Count(ReasonClass::kMalformed, 1);
    runtime_.Advance(seconds(10));
  }
  EXPECT_THAT(told_, ElementsAre());
}

TEST_F(DeadLetterCountsTest, TheAlarmEnds) {
  Count(ReasonClass::kMalformed, 10);
  runtime_.Advance(seconds(120));
  EXPECT_THAT(Metrics(), HasSubstr(R"(firn_dead_letters_alarm{table="db.t"} 0)"));
}

}  // namespace
}  // namespace firn::jobs
