#include "firn/planner/text_picture.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/planner/case_file.h"
#include "firn/planner/key_axis.h"
#include "firn/planner/notation.h"

namespace firn::planner {
namespace {

using testing::HasSubstr;
using testing::Not;

Legend TenantLegend() {
  Legend legend;
  legend.partitions.push_back({.spec_id = PartitionSpecId(0),
                               .sources = {"tenant"},
                               .types = {types::Type(types::TypeKind::kString)}});
  return legend;
}

std::string Picture(const Runs& runs, const PictureOptions& options = {}) {
  const Limits limits{.lower_bound_input_bytes_per_task = 10,
                      .upper_bound_input_bytes_per_task = 20,
                      .non_empty_partition_fields = {}};
  const Plan plan = MakePlan(runs.input(), limits, {}).ValueOrDie();
  return DrawPlan(runs.input(), plan, TenantLegend(), options);
}

std::vector<KeyRange> Ranges(const Runs& runs) {
  std::vector<KeyRange> ranges;
  for (const Run& run : runs.input().runs) ranges.push_back(RangeOf(run));
  return ranges;
}

TEST(KeyAxisTest, BarsThatOverlapStandOnLinesOfTheirOwn) {
  const Runs runs("a-c b-d e-f");
  const KeyAxis axis(Ranges(runs), 12);
  EXPECT_THAT(axis.DrawBars(Ranges(runs), {}, 6),
              testing::ElementsAre("├───┤   ├─┤", "  ├───┤"));
  EXPECT_TRUE(axis.DrawBars(Ranges(runs), {}, 1).empty());
}

TEST(KeyAxisTest, LabelsStandWhereThereIsRoom) {
  const Runs runs("a-c d e-f");
  const KeyAxis axis(Ranges(runs), 10);
  const std::vector<std::string> labels = {"1", "2", "3333"};
  EXPECT_THAT(axis.DrawBars(Ranges(runs), labels, 1), testing::ElementsAre("├1┤ │ ├─┤"));
}

TEST(KeyAxisTest, DepthIsShownByHeight) {
  const Runs runs("a-d b-d c-d d e-");
  EXPECT_EQ(KeyAxis(Ranges(runs), 10).DrawDepth(Ranges(runs)), "▂▂▄▄▆▆█ ▂▂");
}

TEST(KeyAxisTest, ManyKeysShareAColumn) {
  Runs runs;
  for (char c = 'a'; c < 'z'; ++c) {
    runs.Add({.first = std::string(1, c), .last = std::string(1, c) + "x"});
  }
  const KeyAxis axis(Ranges(runs), 5);
  EXPECT_EQ(axis.DrawDepth(Ranges(runs)), "█████");
  EXPECT_TRUE(axis.DrawBars(Ranges(runs), {}, 4).empty());
}

TEST(TextPictureTest, ShowsRunsAndFilesOverTheKeySpace) {
  EXPECT_EQ(Picture(Runs("a-g:4 c-m:8 x-z:15"), {.width = 50}),
            R"(3 runs in 1 partition, 27 B, 270 rows -> 2 files
2 clusters, 0 over the upper bound; small files joined: 0; files over one key: at most 1

tenant=P
  3 runs in 2 clusters, 27 B, 270 rows -> 2 files
  runs over one key: 2, files over one key: 1
  runs   ├───────────────┤          ├────────┤
               ├───────────────┤
  files  ├──────────1──────────┤    ├───2────┤
     1        12 B      120 rows  2 runs
         0x61 to 0x6d
     2        15 B      150 rows  1 run
         0x78 to 0x7a
)");
}

TEST(TextPictureTest, ManyRunsOverOneKeyAreADepthLine) {
  Runs runs;
  for (int i = 0; i < 500; ++i) runs.Add({.first = "a", .last = "b", .bytes = 1});
  const std::string picture = Picture(runs);
  EXPECT_THAT(picture, HasSubstr("runs over one key: 500,"));
  EXPECT_THAT(picture, HasSubstr("  depth  █"));
  EXPECT_LT(std::ranges::count(picture, '\n'), 60);
}

TEST(TextPictureTest, ManyPartitionsAndFilesAreSummedUp) {
  Runs runs;
  for (int i = 0; i < 100; ++i) {
    const std::string key = std::to_string(1000 + i);
    runs.Add({.partition = "A", .first = key, .last = key, .bytes = 15});
    runs.Add({.partition = "B" + key, .first = key, .last = key, .bytes = 15});
  }
  const std::string picture = Picture(runs, {.partitions_max = 3, .files_max = 5});
  EXPECT_THAT(picture, HasSubstr("...  96 files more, 1.4 KiB"));
  EXPECT_THAT(picture, HasSubstr("98 partitions more: 98 runs, 1.4 KiB -> 98 files; runs "
                                 "over one key: at most 1"));
  EXPECT_LT(std::ranges::count(picture, '\n'), 50);
}

TEST(TextPictureTest, WithoutSortOrderThereIsNoKeySpace) {
  const std::string picture = Picture(Runs("P/ P/"));
  EXPECT_THAT(picture, HasSubstr("no sort order"));
  EXPECT_THAT(picture, Not(HasSubstr("over one key")));
}

TEST(TextPictureTest, ControlCharactersDoNotReachTheTerminal) {
  Runs runs;
  runs.Add({.partition = "\x1b[2J\n\xc2\x9b\xff\xc3\xa9", .first = "a", .last = "b"});
  EXPECT_THAT(Picture(runs), HasSubstr("tenant=?[2J????é\n"));
}

TEST(TextPictureTest, NothingToMove) {
  EXPECT_EQ(Picture(Runs("")), "nothing to move: no runs\n");
}

TEST(TextPictureTest, KeysAreShownAsValuesAndFitTheWidth) {
  std::ifstream in(FIRN_SOURCE_DIR
                   "/src/firn/planner/cases/"
                   "case-02k-fat-overlapping-cut-at-keys.json");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const CaseFile file = ParseCaseFile(text).ValueOrDie();
  const Plan plan = MakePlan(file.input, file.limits, {}).ValueOrDie();
  const std::string picture = DrawPlan(file.input, plan, file.legend, {.width = 100});
  EXPECT_THAT(picture, HasSubstr("tenant_id=default, timestamp_day=2026-01-01\n"));
  EXPECT_THAT(
      picture,
      HasSubstr(
          "         (acct-1, service-A, 2026-01-01T00:03:15+00:00)\n"
          "         to before (acct-1, service-A, 2026-01-01T00:01:42.500000+00:00)\n"));
  const std::string narrow = DrawPlan(file.input, plan, file.legend, {.width = 40});
  EXPECT_THAT(narrow, HasSubstr("         (acct-1, service-A, 2026-01-01…\n"));
}

}  // namespace
}  // namespace firn::planner
