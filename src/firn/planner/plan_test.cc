#include "firn/planner/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/planner/bucket.h"
#include "firn/planner/notation.h"

namespace firn::planner {
namespace {

struct Bounds {
  std::int64_t lower = 10;
  std::int64_t upper = 20;
  std::int64_t cap = 100;
};

Limits LimitsOf(const Bounds& bounds, OversizedClusters oversized) {
  return {.lower_bound_input_bytes_per_task = bounds.lower,
          .upper_bound_input_bytes_per_task = bounds.upper,
          .max_row_groups_per_task = bounds.cap,
          .oversized_clusters = oversized,
          .non_empty_partition_fields = {}};
}

std::string Cut(std::string_view text, const Bounds& bounds = {}) {
  const Runs runs(text);
  const Limits limits = LimitsOf(bounds, OversizedClusters::kCutAtKeys);
  return ToText(runs.input(), MakePlan(runs.input(), limits, {}).ValueOrDie());
}

std::string Split(std::string_view text, const Bounds& bounds = {}) {
  const Runs runs(text);
  const Limits limits = LimitsOf(bounds, OversizedClusters::kSplitRowGroups);
  return ToText(runs.input(), MakePlan(runs.input(), limits, {}).ValueOrDie());
}

/// Chunks alone, each closed at the first byte.
std::string Clusters(std::string_view text) {
  const Runs runs(text);
  const Limits limits = LimitsOf({.lower = 1}, OversizedClusters::kSplitRowGroups);
  return ToShortText(runs.input(), MakePlan(runs.input(), limits, {}).ValueOrDie());
}

Stats StatsOf(std::string_view text, const Bounds& bounds = {},
              OversizedClusters oversized = OversizedClusters::kCutAtKeys) {
  const Runs runs(text);
  return MakePlan(runs.input(), LimitsOf(bounds, oversized), {}).ValueOrDie().stats;
}

std::string ErrorOf(const PlanInput& input, const Limits& limits) {
  return ErrorText(MakePlan(input, limits, {}).status());
}

TEST(ClusterTest, ChainOfOverlapsIsOneCluster) {
  EXPECT_EQ(Clusters("d-f a-c x-z b-e"), "[a-c b-e d-f] [x-z]");
}

TEST(ClusterTest, EqualBoundsTouch) { EXPECT_EQ(Clusters("a-c c-d"), "[a-c c-d]"); }

TEST(ClusterTest, ARunInsideAnotherDoesNotEndTheCluster) {
  EXPECT_EQ(Clusters("a-z b-c y e"), "[a-z b-c e y]");
}

TEST(ClusterTest, ARunWithoutEndMeetsAllThatFollow) {
  EXPECT_EQ(Clusters("m- a-c z zz"), "[a-c] [m- z zz]");
}

TEST(ClusterTest, WithoutSortOrderEachRunIsACluster) {
  EXPECT_EQ(StatsOf("P/ P/ P/").clusters, 3);
  EXPECT_EQ(StatsOf("P/ P/ P/").overlap_depth_max, std::nullopt);
}

TEST(BucketTest, NothingCrossesAPartition) {
  EXPECT_EQ(Split("B/a-c A/b-d B/b-e A/a"), "B/[a-c:1 b-e:1] A/[a:1 b-d:1]");
}

TEST(BucketTest, NullIsAPartitionOfItsOwn) {
  EXPECT_EQ(Split("~/a /b ~/c"), "~/[a:1 c:1] /[b:1]");
}

TEST(BucketTest, EqualBucketsAreOne) {
  Runs runs("A/a B/b A/c");
  PlanInput input = runs.input();
  input.buckets[1] = input.buckets[0];
  const Plan plan = MakePlan(input, {}, {}).ValueOrDie();
  EXPECT_EQ(ToShortText(input, plan), "A/[a b c]");
}

TEST(BucketTest, NanIsOnePartitionAndMinusZeroAnother) {
  Runs runs("A/a B/b C/c D/d");
  PlanInput input = runs.input();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t i = 0; i < 4; ++i) {
    input.buckets[i].partition = {std::vector<double>{nan, -nan, 0.0, -0.0}[i]};
  }
  EXPECT_EQ(MakePlan(input, {}, {}).ValueOrDie().chunks.size(), 3);
}

TEST(BucketTest, AFieldThatMustNotBeEmptyFailsThePlan) {
  const Limits limits{.non_empty_partition_fields = {"other", "tenant"}};
  EXPECT_EQ(ErrorOf(Runs("A/a ~/b ~/c").input(), limits),
            "tenant is null in s001 row group 0");
  EXPECT_EQ(ErrorOf(Runs("A/a /b:1 ~/c").input(), limits),
            "tenant is empty in s001 row group 0");
  EXPECT_EQ(ErrorOf(Runs("A/a B/b").input(), limits), "");
}

TEST(SortTest, EqualFirstKeysStandInOrderOfSegmentsThenRowGroups) {
  Runs runs("a-b a-c a-d a");
  PlanInput input = runs.input();
  input.segments = {"t", "s\xff", "s", "s"};
  input.runs[2].row_group = 11;
  input.runs[3].row_group = 2;
  const Plan plan = MakePlan(input, {}, {}).ValueOrDie();
  EXPECT_EQ(ToShortText(input, plan), "[a a-d a-c a-b]");
}

TEST(SortTest, LongKeysOfOneBeginningStandInTheirOrder) {
  // Some end where others go on with zeros; all begin alike for longer than a word.
  std::vector<std::string> keys;
  for (const char* end : {"", "x", "yyyyyyyyyyyy"}) {
    for (int zeros = 0; zeros < 20; ++zeros) {
      keys.push_back("the same beginning" + std::string(zeros, '\0') + end);
      keys.push_back("the same beginning, longer" + std::string(zeros, '\0') + end);
    }
  }
  Runs runs;
  for (const std::string& key : keys) runs.Add({.first = key, .last = key});
  BucketRuns bucket = GroupByBucket(runs.input()).at(0);
  SortRuns(runs.input(), bucket);
  std::vector<std::string> sorted;
  for (const std::uint32_t run : bucket.runs) sorted.push_back(keys[run]);
  std::ranges::sort(keys);
  EXPECT_EQ(sorted, keys);
}

TEST(PackTest, AChunkClosesOnceItHasReachedTheLowerBound) {
  EXPECT_EQ(Split("a:5 b:5 c:5 d:5"), "[a:5 b:5] [c:5 d:5]");
  EXPECT_EQ(Split("a:9 b:9 c:9"), "[a:9 b:9] [c:9]");
}

TEST(PackTest, AChunkClosesBeforeItPassesTheUpperBound) {
  EXPECT_EQ(Split("a:9 b:12 c:10"), "[a:9] [b:12] [c:10]");
  EXPECT_EQ(Split("a:9 b:11"), "[a:9 b:11]");
}

TEST(PackTest, AChunkClosesBeforeItPassesTheCap) {
  EXPECT_EQ(Split("a b c d e", {.cap = 2}), "[a:1 b:1] [c:1 d:1] [e:1]");
}

TEST(SplitTest, PartsFillUpInOrder) {
  EXPECT_EQ(Split("a-z:9 b-z:9 c-z:9 d-z:9"), "![a-z:9 b-z:9] ![c-z:9 d-z:9]");
  EXPECT_EQ(Split("a-z:25 b-z:3"), "![a-z:25] ![b-z:3]");
}

TEST(SplitTest, AClusterOverTheCapIsOversized) {
  EXPECT_EQ(Split("a-z b-z c-z", {.cap = 2}), "![a-z:1 b-z:1] ![c-z:1]");
  EXPECT_EQ(StatsOf("a-z b-z c-z", {.cap = 2}, OversizedClusters::kSplitRowGroups)
                .oversized_clusters,
            1);
}

TEST(SplitTest, TheLastPartTakesWhatFollows) {
  EXPECT_EQ(Split("a:2 b-m:15 c-m:9 n:8"), "[a:2] ![b-m:15] ![c-m:9 n:8]");
}

TEST(SplitTest, OverlapIsReported) {
  const Stats stats =
      StatsOf("a-z:15 b-z:15 c-z:15", {}, OversizedClusters::kSplitRowGroups);
  EXPECT_EQ(stats.overlap_depth_max, 3);
}

TEST(CutTest, StandsAtTheCandidateNearestToEvenParts) {
  EXPECT_EQ(Cut("a-z:32@g,m,t"), "![a-z[,m):16] ![a-z[m,):16]");
  EXPECT_EQ(Cut("a-z:24@g=0.25,m=0.375"), "![a-z[,m):9] ![a-z[m,):15]");
}

TEST(CutTest, OfTwoEquallyNearTheSmaller) {
  EXPECT_EQ(Cut("a-z:40@g=0.375,m=0.625"), "![a-z[,g):15] ![a-z[g,):25]");
}

TEST(CutTest, ARunStandsOnlyWhereItsKeysAre) {
  EXPECT_EQ(Cut("a-c:10 b-m:10@g k-p:10 n-z:10"),
            "![a-c:10 b-m[,k):7] ![b-m[k,):3 k-p:10 n-z:10]");
}

TEST(CutTest, ALastKeyAtTheCutBelongsToTheNextPart) {
  EXPECT_EQ(Cut("a-m:12 m-z:12"), "![a-m[,m):6] ![a-m[m,):6 m-z:12]");
}

TEST(CutTest, AllOfARunMayLieBelowItsSample) {
  EXPECT_EQ(Cut("a-m:16@m=1 b-z:16@m=0"),
            "![a-m[,m):16 b-z[,m):0]"
            " ![a-m[m,):0 b-z[m,):16]");
}

TEST(CutTest, RepeatedSamplesCountWithTheSmallestFraction) {
  EXPECT_EQ(Cut("a-z:32@m=0.25,m=0.5,m=0.75,p=1"), "![a-z[,m):8] ![a-z[m,):24]");
}

TEST(CutTest, AnOpenChunkBelowTheLowerBoundIsCutWithTheCluster) {
  EXPECT_EQ(Cut("a:4 b-z:32@g,m,t"), "![a:4 b-z[,m):16] ![b-z[m,):16]");
  EXPECT_EQ(Cut("a:10 b-z:32@g,m,t"), "[a:10] ![b-z[,m):16] ![b-z[m,):16]");
}

TEST(CutTest, AChunkThatHoldsNoPartOfTheClusterIsNotSplit) {
  EXPECT_EQ(Cut("a:4 b:25"), "[a:4] ![b:25]");
}

TEST(CutTest, TheLastPartIsCutAgainWithTheNextCluster) {
  EXPECT_EQ(Cut("a-m:24@g=0.75 n-z:24@t=0.25"),
            "![a-m[,g):18] ![a-m[g,):6 n-z[,t):6] ![n-z[t,):18]");
}

TEST(CutTest, APartFarOverTheUpperBoundIsCutAgain) {
  EXPECT_EQ(Cut("a-z:48@b=0.0625,c=0.125,x=0.875"),
            "![a-z[,c):6] ![a-z[c,x):36] ![a-z[x,):6]");
  EXPECT_EQ(Cut("a-z:80@b=0.125,c=0.25,d=0.375,e=0.5"),
            "![a-z[,c):20] ![a-z[c,e):20] ![a-z[e,):40]");
}

TEST(CutTest, WhereNoKeyAllowsACutRowGroupsAreSplit) {
  EXPECT_EQ(Cut("m:15 m:15 m:15"), "![m:15] ![m:15] ![m:15]");
  const Stats stats = StatsOf("m:15 m:15 m:15");
  EXPECT_EQ(stats.uncut_parts, 1);
  EXPECT_EQ(stats.overlap_depth_max, 3);
}

TEST(CutTest, OnlyTheUncutPartOverlaps) {
  EXPECT_EQ(Cut("a:15 a-m:1@m m:15 m:15 m-z:16@t"),
            "![a:15 a-m[,m):0] ![a-m[m,):1 m:15] ![m:15] ![m-z:16]");
}

TEST(CutTest, WithoutEndARunStandsInEveryPart) {
  EXPECT_EQ(Cut("a-:16 b-c:8 x-y:8"), "![a-[,x):8 b-c:8] ![a-[x,):8 x-y:8]");
}

TEST(CutTest, TheCapDoesNotBind) {
  EXPECT_EQ(Cut("a-z b-z c-z", {.cap = 2}), "[a-z:1 b-z:1 c-z:1]");
}

TEST(CutTest, BadSamplesGiveUnevenPartsNothingWorse) {
  EXPECT_EQ(Cut("g-m:32@z=0.5,a=0.5,h=9,k=-3"), "![g-m[,h):32] ![g-m[h,):0]");
}

TEST(CutTest, WithoutSortOrderNothingIsCut) {
  EXPECT_EQ(Cut("P/:25 P/:9 P/:30"), "![:25] [:9] ![:30]");
}

TEST(MergeSmallTest, ATailJoinsTheChunkBeforeIt) {
  EXPECT_EQ(Split("a:12 b:8"), "[a:12 b:8]");
  EXPECT_EQ(Split("a:12 b:9"), "[a:12] [b:9]");
  EXPECT_EQ(Split("a:12 b:8", {.cap = 1}), "[a:12] [b:8]");
}

TEST(MergeSmallTest, SoDoesASmallOneInTheMiddle) {
  EXPECT_EQ(Split("a:12 b:7 c:15"), "[a:12 b:7] [c:15]");
}

TEST(CutTest, APartWithoutACandidateIsSplitEvenIfBarelyOver) {
  EXPECT_EQ(Cut("a-m:15 m-z:15"), "![a-m:15] ![m-z:15]");
  EXPECT_EQ(StatsOf("a-m:15 m-z:15").uncut_parts, 1);
}

TEST(MergeSmallTest, SlicesOfOneRunAreReunited) {
  EXPECT_EQ(Cut("a-z:48@c=0.25,g=0.42"), "![a-z[,g):20] ![a-z[g,):28]");
  EXPECT_EQ(Cut("a-z:48@c=0.25,g=0.42", {.lower = 8}),
            "![a-z[,c):12] ![a-z[c,g):8] ![a-z[g,):28]");
}

TEST(PlanTest, NoRunsGiveAnEmptyPlan) {
  const Plan plan = MakePlan({}, {}, {}).ValueOrDie();
  EXPECT_TRUE(plan.chunks.empty());
  EXPECT_EQ(plan.stats, (Stats{.overlap_depth_max = 0}));
}

TEST(PlanTest, StopIsHeard) {
  StopSource source;
  source.RequestStop();
  const Runs runs("a b c");
  const Status stopped = MakePlan(runs.input(), {}, source.token()).status();
  EXPECT_TRUE(IsError(stopped, ErrorKind::kCancelled));
}

TEST(PlanTest, BadInputIsNamed) {
  const auto limits = [](Bounds bounds) {
    return LimitsOf(bounds, OversizedClusters::kCutAtKeys);
  };
  const std::string good = "a";
  const PlanInput input = Runs(good).input();
  EXPECT_THAT(ErrorOf(input, limits({.lower = 21})), testing::HasSubstr("21 > 20"));
  EXPECT_THAT(ErrorOf(input, limits({.lower = 0, .upper = 0})),
              testing::HasSubstr("positive"));
  EXPECT_THAT(ErrorOf(input, limits({.cap = 0})), testing::HasSubstr("at least 1"));
  EXPECT_THAT(ErrorOf(Runs("a b:-1").input(), {}), testing::HasSubstr("s001"));
  EXPECT_THAT(ErrorOf(Runs("c-b").input(), {}), testing::HasSubstr("above the last"));
  Runs large;
  large.Add({.first = "a", .last = "a", .bytes = 9'000'000'000'000'000'000});
  large.Add({.first = "b", .last = "b", .bytes = 9'000'000'000'000'000'000});
  EXPECT_THAT(ErrorOf(large.input(), {}), testing::HasSubstr("64 bits"));
}

}  // namespace
}  // namespace firn::planner
