#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/planner/case_file.h"
#include "firn/planner/key_axis.h"
#include "firn/planner/labels.h"
#include "firn/planner/notation.h"
#include "firn/planner/svg_picture.h"
#include "firn/planner/text_picture.h"

namespace firn::planner {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const std::string kCases = FIRN_SOURCE_DIR "/src/firn/planner/cases/";
const std::string kPictures = FIRN_SOURCE_DIR "/src/firn/planner/pictures/";

std::string ReadFile(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

Legend TenantLegend() {
  Legend legend;
  legend.partitions.push_back({.spec_id = PartitionSpecId(0),
                               .sources = {"tenant"},
                               .types = {types::Type(types::TypeKind::kString)}});
  return legend;
}

/// Runs in letters, planned with bounds of 10 and 20 bytes.
class PlannedRuns {
 public:
  explicit PlannedRuns(const Runs& runs)
      : runs_(runs), plan_(MakePlan(runs.input(), limits_, {}).ValueOrDie()) {}

  std::string Text(const PictureOptions& options = {}) const {
    return DrawPlan(explained(), options);
  }
  std::string Svg(const SvgOptions& options = {}) const {
    return DrawPlanAsSvg(explained(), options);
  }

 private:
  ExplainedPlan explained() const {
    return {.input = runs_.input(), .limits = limits_, .plan = plan_, .legend = legend_};
  }

  const Limits limits_{.lower_bound_input_bytes_per_task = 10,
                       .upper_bound_input_bytes_per_task = 20,
                       .non_empty_partition_fields = {}};
  const Runs& runs_;
  const Plan plan_;
  const Legend legend_ = TenantLegend();
};

std::vector<KeyRange> Ranges(const Runs& runs) {
  std::vector<KeyRange> ranges;
  for (const Run& run : runs.input().runs) ranges.push_back(RangeOf(run));
  return ranges;
}

std::vector<Bar> Bars(const Runs& runs, const std::vector<std::string>& labels = {}) {
  std::vector<Bar> bars;
  for (const KeyRange& range : Ranges(runs)) bars.push_back({.range = range});
  for (std::size_t i = 0; i < labels.size(); ++i) bars[i].labels = {labels[i], "."};
  return bars;
}

TEST(KeyAxisTest, BarsThatOverlapStandOnLinesOfTheirOwn) {
  const Runs runs("a-c b-d e-f");
  const KeyAxis axis(Ranges(runs));
  EXPECT_THAT(axis.DrawBars(Bars(runs), kThinBars, 12, 6),
              ElementsAre("├───┤   ├──┤", "  ├───┤"));
  EXPECT_TRUE(axis.DrawBars(Bars(runs), kThinBars, 12, 1).empty());
}

TEST(KeyAxisTest, TheFirstLabelThatFitsStandsInTheBar) {
  const Runs runs("a-c d e-f");
  const KeyAxis axis(Ranges(runs));
  EXPECT_THAT(axis.DrawBars(Bars(runs, {"1", "2", "3333"}), kThinBars, 10, 1),
              ElementsAre("├1┤ │ ├.─┤"));
}

TEST(KeyAxisTest, DepthIsShownByHeight) {
  const Runs runs("a-d b-d c-d d e-");
  const KeyAxis axis(Ranges(runs));
  EXPECT_THAT(axis.DrawDepth(Ranges(runs), 10, 1), ElementsAre("▂▂▄▄▆▆█ ▂▂"));
  EXPECT_THAT(axis.DrawDepth(Ranges(runs), 10, 2), ElementsAre("    ▄▄█", "▄▄█████ ▄▄"));
}

TEST(KeyAxisTest, ManyKeysShareAColumn) {
  Runs runs;
  for (char c = 'a'; c < 'z'; ++c) {
    runs.Add({.first = std::string(1, c), .last = std::string(1, c) + "x"});
  }
  const KeyAxis axis(Ranges(runs));
  EXPECT_THAT(axis.DrawDepth(Ranges(runs), 5, 1), ElementsAre("█████"));
  EXPECT_TRUE(axis.DrawBars(Bars(runs), kThinBars, 5, 4).empty());
}

TEST(KeyAxisTest, RangesThatMeetHaveDifferentLanes) {
  const Runs runs("a-c b-d c-e f-g");
  EXPECT_THAT(KeyAxis(Ranges(runs)).LanesOf(Ranges(runs)), ElementsAre(0, 1, 2, 0));
}

TEST(LabelsTest, WhatIsNoPrintableCharacterIsAQuestionMark) {
  EXPECT_EQ(Printable("é ☃ 𝄞"), "é ☃ 𝄞");
  EXPECT_EQ(Printable("\x1b[2J\n\x7f\xc2\x9b"), "?[2J???");
  EXPECT_EQ(Printable("\xff\xc3"), "??");
  EXPECT_EQ(Printable("\xed\xa0\x80"), "?") << "a surrogate";
  EXPECT_EQ(Printable("\xc0\xaf"), "??") << "a longer form than needed";
  EXPECT_EQ(Printable("a\xe2\x80\xae"
                      "b"),
            "a?b")
      << "turns the direction";
  EXPECT_EQ(Printable("\xef\xbf\xbf"), "?") << "no character of XML";
}

TEST(LabelsTest, ShortTextKeepsWholeCharacters) {
  EXPECT_EQ(Shortened("äöü", 3), "äöü");
  EXPECT_EQ(Shortened("äöüß", 3), "äö…");
  EXPECT_EQ(Shortened("äö", 0), "");
}

TEST(TextPictureTest, ManyRunsOverOneKeyAreACurve) {
  Runs runs;
  for (int i = 0; i < 500; ++i) runs.Add({.first = "a", .last = "b", .bytes = 1});
  const std::string picture = PlannedRuns(runs).Text();
  EXPECT_THAT(picture, HasSubstr("  ≤ 500     █"));
  EXPECT_LT(std::ranges::count(picture, '\n'), 60);
}

TEST(TextPictureTest, ManyPartitionsAndFilesAreSummedUp) {
  Runs runs;
  for (int i = 0; i < 100; ++i) {
    const std::string key = std::to_string(1000 + i);
    runs.Add({.partition = "A", .first = key, .last = key, .bytes = 15});
    runs.Add({.partition = "B" + key, .first = key, .last = key, .bytes = 15});
  }
  const std::string picture =
      PlannedRuns(runs).Text({.partitions_max = 3, .files_max = 5});
  EXPECT_THAT(picture, HasSubstr("…  96 files more, 1.4 KiB"));
  EXPECT_THAT(picture, HasSubstr("98 partitions more: 98 runs, 1.4 KiB → 98 files; runs "
                                 "over one key: at most 1"));
  EXPECT_LT(std::ranges::count(picture, '\n'), 60);
}

TEST(TextPictureTest, WithoutSortOrderThereIsNoKeySpace) {
  const Runs runs("P/ P/");
  const std::string picture = PlannedRuns(runs).Text();
  EXPECT_THAT(picture, HasSubstr("no sort order"));
  EXPECT_THAT(picture, Not(HasSubstr("over one key")));
}

TEST(TextPictureTest, ControlCharactersDoNotReachTheTerminal) {
  Runs runs;
  runs.Add({.partition = "\x1b[2J\n\xc2\x9b\xff\xc3\xa9", .first = "a", .last = "b"});
  EXPECT_THAT(PlannedRuns(runs).Text(), HasSubstr("tenant=?[2J???é\n"));
}

TEST(TextPictureTest, NoLineIsWiderThanTheTerminal) {
  const std::string text = ReadFile(kCases + "case-04-fat-and-thin.json");
  const CaseFile file = ParseCaseFile(text).ValueOrDie();
  const Plan plan = MakePlan(file.input, file.limits, {}).ValueOrDie();
  for (const int width : {72, 80, 100, 200}) {
    std::istringstream picture(DrawPlan(
        {.input = file.input, .limits = file.limits, .plan = plan, .legend = file.legend},
        {.width = width}));
    for (std::string line; std::getline(picture, line);) {
      EXPECT_LE(TextLength(line), width) << line;
    }
  }
}

TEST(PictureTest, NothingToMove) {
  const Runs runs("");
  EXPECT_EQ(PlannedRuns(runs).Text(), "nothing to move: no runs\n");
  EXPECT_THAT(PlannedRuns(runs).Svg(), HasSubstr(">nothing to move: no runs</text>"));
}

TEST(SvgPictureTest, TextIsEscaped) {
  Runs runs;
  runs.Add({.partition = "<a href=\"x\">&\x01</a>", .first = "a", .last = "b"});
  const std::string picture = PlannedRuns(runs).Svg();
  EXPECT_THAT(picture, HasSubstr("tenant=&lt;a href=&quot;x&quot;&gt;&amp;?&lt;/a&gt;"));
  EXPECT_THAT(picture, Not(HasSubstr("<a")));
}

TEST(SvgPictureTest, ManyRunsFilesAndPartitionsAreSummedUp) {
  Runs runs;
  for (int i = 0; i < 4000; ++i) {
    runs.Add({.partition = "!", .first = "a", .last = fmt::format("b{}", i), .bytes = 1});
    runs.Add({.partition = std::to_string(i), .first = "a", .last = "b", .bytes = 1});
  }
  const std::string picture = PlannedRuns(runs).Svg();
  EXPECT_THAT(picture, HasSubstr("class=\"curve\""));
  EXPECT_THAT(picture, HasSubstr(" files more, "));
  EXPECT_THAT(picture, HasSubstr(" partitions more: "));
  EXPECT_LT(picture.size(), 200'000U);
}

/// A case file and its pictures. FIRN_UPDATE_GOLDEN=1 writes them anew.
class GoldenPictureTest : public testing::TestWithParam<const char*> {
 protected:
  void ExpectPicture(const std::string& suffix, const std::string& picture) {
    const std::string path = kPictures + GetParam() + suffix;
    if (std::getenv("FIRN_UPDATE_GOLDEN") != nullptr) {
      std::filesystem::create_directories(kPictures);
      std::ofstream(path) << picture;
    }
    EXPECT_EQ(picture, ReadFile(path)) << path;
  }
};

TEST_P(GoldenPictureTest, IsAsItWas) {
  const std::string json = ReadFile(kCases + GetParam() + ".json");
  const CaseFile file = ParseCaseFile(json).ValueOrDie();
  const Plan plan = MakePlan(file.input, file.limits, {}).ValueOrDie();
  const ExplainedPlan explained{
      .input = file.input, .limits = file.limits, .plan = plan, .legend = file.legend};
  ExpectPicture(".txt", DrawPlan(explained, {.width = 100}));
  ExpectPicture(".svg", DrawPlanAsSvg(explained));
}

INSTANTIATE_TEST_SUITE_P(, GoldenPictureTest,
                         testing::Values("case-02-fat-overlapping",
                                         "case-02k-fat-overlapping-cut-at-keys",
                                         "case-04-fat-and-thin", "case-05-overlaps-fit",
                                         "case-07-two-tenants", "case-20k-one-key-only",
                                         "case-21-no-sort-order",
                                         "case-23k-ten-times-the-upper-bound"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace firn::planner
