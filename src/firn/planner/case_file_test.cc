#include "firn/planner/case_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "firn/planner/plan_json.h"

namespace firn::planner {
namespace {

using nlohmann::json;

std::string ReadText(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// ---- the cases of the folder ----

std::vector<std::string> CaseNames() {
  std::vector<std::string> names;
  const std::filesystem::path folder = FIRN_SOURCE_DIR "/src/firn/planner/cases";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().stem());
  }
  std::ranges::sort(names);
  return names;
}

/// Every member of `expected` stands in `actual` with the same value.
void ExpectMembers(const json& expected, const json& actual) {
  for (const auto& [name, value] : expected.items()) {
    EXPECT_EQ(actual.at(name), value) << name;
  }
}

void ExpectSizes(const json& expect, const json& chunks) {
  for (const json& chunk : chunks) {
    const auto bytes = chunk.at("bytes").get<std::int64_t>();
    EXPECT_GE(bytes, expect.value("bytes_min", bytes));
    EXPECT_LE(bytes, expect.value("bytes_max", bytes));
  }
}

void ExpectPlan(const json& expect, const json& plan) {
  const json& chunks = plan.at("chunks");
  if (expect.contains("chunks")) {
    ASSERT_EQ(chunks.size(), expect.at("chunks").size());
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      ExpectMembers(expect.at("chunks")[i], chunks[i]);
    }
  }
  if (expect.contains("stats")) ExpectMembers(expect.at("stats"), plan.at("stats"));
  EXPECT_EQ(chunks.size(), expect.value("chunk_count", chunks.size()));
  ExpectSizes(expect, chunks);
  for (const char* stat : {"overlap_depth_max", "oversized_clusters"}) {
    if (expect.contains(stat)) {
      EXPECT_EQ(plan.at("stats").at(stat), expect.at(stat)) << stat;
    }
  }
}

class CaseTest : public testing::TestWithParam<std::string> {
 protected:
  std::string Text() const {
    return ReadText(FIRN_SOURCE_DIR "/src/firn/planner/cases/" + GetParam() + ".json");
  }
};

TEST_P(CaseTest, GivesWhatItExpects) {
  const json expect = json::parse(Text()).at("expect");
  const std::set<std::string> known = {"chunks",      "stats",
                                       "chunk_count", "bytes_min",
                                       "bytes_max",   "overlap_depth_max",
                                       "error",       "oversized_clusters"};
  for (const auto& [name, value] : expect.items()) ASSERT_TRUE(known.contains(name));
  const CaseFile file = ParseCaseFile(Text()).ValueOrDie();
  const Result<Plan> plan = MakePlan(file.input, file.limits, {});
  if (expect.contains("error")) {
    EXPECT_EQ(ErrorText(plan.status()), expect.at("error").get<std::string>());
    return;
  }
  ASSERT_TRUE(plan.ok()) << plan.status();
  ExpectPlan(expect, json::parse(RenderPlanJson(file.input, *plan, file.legend)));
}

TEST_P(CaseTest, ComesBackFromTheExport) {
  const CaseFile file = ParseCaseFile(Text()).ValueOrDie();
  const std::string text =
      WriteCaseFile(file.input, file.limits, file.legend).ValueOrDie();
  const json before = json::parse(Text());
  const json after = json::parse(text);
  for (const char* part : {"config", "sort_order", "partition_spec"}) {
    EXPECT_EQ(after.at(part), before.at(part));
  }
  ASSERT_EQ(after.at("row_groups").size(), before.at("row_groups").size());
  for (std::size_t i = 0; i < after.at("row_groups").size(); ++i) {
    ExpectMembers(before.at("row_groups")[i], after.at("row_groups")[i]);
  }
  const CaseFile again = ParseCaseFile(text).ValueOrDie();
  const Result<Plan> plan = MakePlan(file.input, file.limits, {});
  const Result<Plan> plan_again = MakePlan(again.input, again.limits, {});
  ASSERT_EQ(plan.status(), plan_again.status());
  if (!plan.ok()) return;
  EXPECT_EQ(RenderPlanJson(again.input, *plan_again, again.legend),
            RenderPlanJson(file.input, *plan, file.legend));
}

INSTANTIATE_TEST_SUITE_P(Cases, CaseTest, testing::ValuesIn(CaseNames()),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

// ---- what a document may hold ----

/// A sound document; tests change a part of it.
json SmallCase() {
  return json::parse(R"({
    "config": {"lower_bound_input_bytes_per_task": 10,
               "upper_bound_input_bytes_per_task": 20,
               "max_row_groups_per_task": 100,
               "oversized_clusters": "cut_at_keys",
               "non_empty_partition_fields": []},
    "sort_order": [
      {"column": "name", "type": "string", "direction": "asc", "nulls": "first"},
      {"column": "at", "type": "timestamptz", "direction": "desc", "nulls": "last"}],
    "partition_spec": [{"name": "day", "source": "at", "transform": "day"},
                       {"name": "tenant", "source": "tenant", "transform": "identity"}],
    "row_groups": [
      {"segment": "s/1", "row_group": 0, "bytes": 24, "rows": 7,
       "partition": {"day": "2026-01-01", "tenant": 5},
       "min_key": ["a", 9], "max_key": ["c", 1],
       "samples": [["b", 5], ["b", 4]]},
      {"segment": "s/1", "row_group": 1, "bytes": 3, "rows": 1,
       "partition": {"day": null, "tenant": null},
       "min_key": [null, null], "max_key": ["a", null]}]})");
}

std::string ErrorOf(const json& document) {
  const Result<CaseFile> file = ParseCaseFile(document.dump());
  return file.ok() ? "" : ErrorText(file.status());
}

json PlanOf(const json& document) {
  const CaseFile file = ParseCaseFile(document.dump()).ValueOrDie();
  const Plan plan = MakePlan(file.input, file.limits, {}).ValueOrDie();
  return json::parse(RenderPlanJson(file.input, plan, file.legend));
}

TEST(CaseFileTest, IsPlannedAndPrinted) {
  EXPECT_EQ(PlanOf(SmallCase()), json::parse(R"({
    "chunks": [
      {"partition": {"day": "2026-01-01", "tenant": 5}, "bytes": 8, "rows": 2,
       "split": true, "row_groups": [["s/1", 0]],
       "slices": [{"segment": "s/1", "row_group": 0, "from_key": null,
                   "to_key": ["b", 5], "bytes": 8, "rows": 2}],
       "min_key": ["a", 9], "max_key": ["b", 5]},
      {"partition": {"day": "2026-01-01", "tenant": 5}, "bytes": 16, "rows": 5,
       "split": true, "row_groups": [["s/1", 0]],
       "slices": [{"segment": "s/1", "row_group": 0, "from_key": ["b", 5],
                   "to_key": null, "bytes": 16, "rows": 5}],
       "min_key": ["b", 5], "max_key": ["c", 1]},
      {"partition": {"day": null, "tenant": null}, "bytes": 3, "rows": 1,
       "split": false, "row_groups": [["s/1", 1]], "slices": [],
       "min_key": [null, null], "max_key": ["a", null]}],
    "stats": {"row_groups": 2, "clusters": 2, "oversized_clusters": 1, "tail_merges": 0,
              "largest_cluster_bytes": 24, "uncut_parts": 0, "overlap_depth_max": 1}})"));
}

TEST(CaseFileTest, NoRowGroupsGiveAnEmptyPlan) {
  json document = SmallCase();
  document["row_groups"] = json::array();
  const json plan = PlanOf(document);
  EXPECT_EQ(plan.at("chunks"), json::array());
  EXPECT_EQ(plan.at("stats").at("overlap_depth_max"), 0);
}

TEST(CaseFileTest, WithoutSortOrderTheDepthIsNull) {
  json document = SmallCase();
  document["sort_order"] = json::array();
  document["row_groups"].erase(0);
  document["row_groups"][0]["min_key"] = json::array();
  document["row_groups"][0]["max_key"] = json::array();
  const json plan = PlanOf(document);
  EXPECT_EQ(plan.at("stats").at("overlap_depth_max"), nullptr);
  EXPECT_EQ(plan.at("chunks")[0].at("min_key"), json::array());
}

TEST(CaseFileTest, SettingsLeftOutHaveTheirDefaults) {
  json document = SmallCase();
  document["config"] = json::object();
  const CaseFile file = ParseCaseFile(document.dump()).ValueOrDie();
  EXPECT_EQ(file.limits.upper_bound_input_bytes_per_task, 128 << 20);
  EXPECT_EQ(file.limits.oversized_clusters, OversizedClusters::kCutAtKeys);
}

struct TypeCase {
  const char* type;
  /// Ascending, null apart.
  const char* values;
};

/// So that a failed test names its case.
void PrintTo(const TypeCase& value, std::ostream* out) { *out << value.type; }

class KeyTypeTest : public testing::TestWithParam<TypeCase> {};

TEST_P(KeyTypeTest, ValuesKeepTheirOrderAndComeBack) {
  const json values = json::parse(GetParam().values);
  json document = SmallCase();
  document["sort_order"] = json::parse(
      R"([{"column": "k", "type": "", "direction": "asc", "nulls": "first"}])");
  document["sort_order"][0]["type"] = GetParam().type;
  document["partition_spec"] = json::array();
  document["row_groups"] = json::array();
  for (std::size_t i = 0; i + 1 < values.size(); ++i) {
    document["row_groups"].push_back({{"segment", "s"},
                                      {"row_group", i},
                                      {"bytes", 1},
                                      {"rows", 1},
                                      {"partition", json::object()},
                                      {"min_key", json::array({values[i]})},
                                      {"max_key", json::array({values[i + 1]})}});
  }
  const CaseFile file = ParseCaseFile(document.dump()).ValueOrDie();
  const json after =
      json::parse(WriteCaseFile(file.input, file.limits, file.legend).ValueOrDie());
  EXPECT_EQ(after, document);
}

INSTANTIATE_TEST_SUITE_P(
    Types, KeyTypeTest,
    testing::Values(
        TypeCase{"boolean", "[null, false, true]"},
        TypeCase{"int", "[null, -2147483648, -1, 0, 2147483647]"},
        TypeCase{"long", "[null, -9223372036854775808, 0, 9223372036854775807]"},
        TypeCase{"float", R"([null, "-NaN", "-Infinity", -0.5, -0.0, 0.0, 1.5, "Infinity",
                              "NaN"])"},
        TypeCase{"double",
                 R"(["-NaN", "-Infinity", -0.1, 0.0, 1e300, "Infinity", "NaN"])"},
        TypeCase{"decimal(9, 2)", R"([null, "-1.50", "0.00", "12345.67"])"},
        TypeCase{"date", R"([null, "1969-12-31", "2026-01-01"])"},
        TypeCase{"time", R"([null, "00:00:00", "23:59:59.000001"])"},
        TypeCase{"timestamp", "[null, -1, 0, 1767225609000000]"},
        TypeCase{"timestamptz", "[null, -1, 0, 1767225609000000]"},
        TypeCase{"string", R"([null, "", "a", "a\u0000b", "b", "\ud83d\ude00"])"},
        TypeCase{"uuid", R"(["00000000-0000-0000-0000-000000000001",
                             "f79c3e09-677c-4bbd-a479-3f349cb785e7"])"},
        TypeCase{"binary", R"([null, "", "00ff", "ff"])"}));

TEST(CaseFileTest, KeysMayBeGivenAsBytesAndTheLastLeftOpen) {
  json document = SmallCase();
  const CaseFile file = ParseCaseFile(document.dump()).ValueOrDie();
  const std::string truncated(file.input.runs[0].first_key.substr(0, 2));
  document["row_groups"][0]["min_key"] = HexOfKey(truncated);
  document["row_groups"][0]["max_key"] = nullptr;
  const CaseFile open = ParseCaseFile(document.dump()).ValueOrDie();
  EXPECT_EQ(open.input.runs[0].first_key, truncated);
  EXPECT_TRUE(open.input.runs[0].last_key_unbounded);
  const json after =
      json::parse(WriteCaseFile(open.input, open.limits, open.legend).ValueOrDie());
  EXPECT_EQ(after.at("row_groups")[0].at("min_key"), HexOfKey(truncated));
  EXPECT_EQ(after.at("row_groups")[0].at("max_key"), nullptr);
  EXPECT_EQ(PlanOf(after), PlanOf(document));
  EXPECT_EQ(PlanOf(document).at("chunks")[1].at("max_key"), nullptr);
}

TEST(CaseFileTest, RunsOfOneRowGroupAreToldApartByTheirPartition) {
  json document = SmallCase();
  document["row_groups"][1]["row_group"] = 0;
  const CaseFile file = ParseCaseFile(document.dump()).ValueOrDie();
  EXPECT_EQ(file.input.runs[0].run_in_row_group, 0);
  EXPECT_EQ(file.input.runs[1].run_in_row_group, 1);
  const json after =
      json::parse(WriteCaseFile(file.input, file.limits, file.legend).ValueOrDie());
  EXPECT_EQ(PlanOf(after), PlanOf(document));
}

TEST(CaseFileTest, AnExportHoldsOneKindOfKeysAndPartitions) {
  CaseFile file = ParseCaseFile(SmallCase().dump()).ValueOrDie();
  file.input.buckets[1].spec_id = PartitionSpecId(3);
  EXPECT_THAT(ErrorText(WriteCaseFile(file.input, file.limits, file.legend).status()),
              testing::HasSubstr("one partition spec"));
  file.input.buckets[1].spec_id = PartitionSpecId(0);
  file.input.buckets[1].key_types = "long";
  EXPECT_THAT(ErrorText(WriteCaseFile(file.input, file.limits, file.legend).status()),
              testing::HasSubstr("one sort order"));
}

// ---- what it may not hold ----

struct BadCase {
  /// JSON Patch (RFC 6902) on SmallCase.
  const char* patch;
  const char* error;
};

void PrintTo(const BadCase& value, std::ostream* out) { *out << value.patch; }

class BadCaseTest : public testing::TestWithParam<BadCase> {};

TEST_P(BadCaseTest, IsRefusedWithItsPlace) {
  const json document = SmallCase().patch(json::parse(GetParam().patch));
  EXPECT_THAT(ErrorOf(document), testing::StartsWith(GetParam().error));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadCaseTest,
    testing::Values(
        BadCase{R"([{"op": "replace", "path": "", "value": [1]}])",
                "the document: must be an object"},
        BadCase{R"([{"op": "remove", "path": "/config"}])", "config: missing"},
        BadCase{R"([{"op": "remove", "path": "/row_groups"}])", "row_groups: missing"},
        BadCase{R"([{"op": "replace", "path": "/row_groups", "value": {}}])",
                "row_groups: must be an array"},
        BadCase{R"([{"op": "add", "path": "/config/upper", "value": 1}])",
                "config.upper: unknown"},
        BadCase{R"([{"op": "replace", "path": "/config/lower_bound_input_bytes_per_task",
                     "value": 21}])",
                "config: lower_bound_input_bytes_per_task is above"},
        BadCase{R"([{"op": "replace", "path": "/config/max_row_groups_per_task",
                     "value": 0}])",
                "config.max_row_groups_per_task: must be an integer from 1"},
        BadCase{R"([{"op": "replace", "path": "/config/oversized_clusters",
                     "value": "cut"}])",
                "config.oversized_clusters: must be \"cut_at_keys\" or"},
        BadCase{R"([{"op": "replace", "path": "/sort_order/0/type", "value": "text"}])",
                "sort_order[0].type: "},
        BadCase{R"([{"op": "remove", "path": "/sort_order/1/nulls"}])",
                "sort_order[1].nulls: missing"},
        BadCase{R"([{"op": "replace", "path": "/partition_spec/0/transform",
                     "value": "week"}])",
                "partition_spec[0].transform: "},
        BadCase{R"([{"op": "replace", "path": "/partition_spec/0/source",
                     "value": "name"}])",
                "partition_spec[0]: "},
        BadCase{R"([{"op": "remove", "path": "/row_groups/1/bytes"}])",
                "row_groups[1].bytes: missing"},
        BadCase{R"([{"op": "replace", "path": "/row_groups/1/bytes", "value": -1}])",
                "row_groups[1].bytes: must be an integer from 0"},
        BadCase{R"([{"op": "replace", "path": "/row_groups/1/rows", "value": 1.5}])",
                "row_groups[1].rows: must be an integer"},
        BadCase{R"([{"op": "replace", "path": "/row_groups/1/bytes",
                     "value": 18446744073709551615}])",
                "row_groups[1].bytes: must be an integer"},
        BadCase{R"([{"op": "replace", "path": "/row_groups/0/row_group",
                     "value": 4294967296}])",
                "row_groups[0].row_group: must be an integer"},
        BadCase{R"([{"op": "replace", "path": "/row_groups/0/segment", "value": 7}])",
                "row_groups[0].segment: must be text"},
        BadCase{R"([{"op": "add", "path": "/row_groups/0/partition/tennant",
                     "value": 5}])",
                "row_groups[0].partition.tennant: no field of partition_spec"},
        BadCase{R"([{"op": "remove", "path": "/row_groups/0/partition/tenant"}])",
                "row_groups[0].partition.tenant: missing"},
        BadCase{R"([{"op": "replace", "path": "/row_groups/0/partition/day",
                     "value": "2026-13-01"}])",
                "row_groups[0].partition.day: not a value of type date"},
        BadCase{R"([{"op": "replace", "path": "/row_groups/1/partition/tenant",
                     "value": "x"}])",
                "row_groups[1].partition.tenant: not a value of type long"},
        BadCase{R"([{"op": "replace", "path": "/row_groups/0/min_key",
                     "value": ["d", 0]}])",
                "row_groups[0].max_key: stands before min_key"},
        BadCase{R"([{"op": "replace", "path": "/row_groups/1/max_key",
                     "value": [null]}])",
                "row_groups[1].max_key: 1 values, but the sort order has 2 columns"},
        BadCase{R"([{"op": "replace", "path": "/row_groups/1/max_key",
                     "value": ["a", "noon"]}])",
                "row_groups[1].max_key: not a value of type timestamptz: \"noon\""},
        BadCase{
            R"([{"op": "replace", "path": "/row_groups/1/min_key", "value": "0xg0"}])",
            "row_groups[1].min_key: not a hex digit"},
        BadCase{R"([{"op": "replace", "path": "/row_groups/1/min_key", "value": 5}])",
                "row_groups[1].min_key: not an array of values: 5"},
        BadCase{R"([{"op": "replace", "path": "/row_groups/0/samples/1",
                     "value": ["b", 6]}])",
                "row_groups[0].samples[1]: samples must ascend"},
        BadCase{R"([{"op": "replace", "path": "/row_groups/0/samples/1",
                     "value": ["d", 6]}])",
                "row_groups[0].samples[1]: samples must ascend"},
        BadCase{R"([{"op": "add", "path": "/row_groups/0/sample_fractions",
                     "value": [0.5]}])",
                "row_groups[0].sample_fractions: 1 fractions for 2 samples"},
        BadCase{R"([{"op": "add", "path": "/row_groups/0/sample_fractions",
                     "value": [0.5, 0.25]}])",
                "row_groups[0].sample_fractions[1]: fractions must ascend"},
        BadCase{R"([{"op": "add", "path": "/row_groups/1/sample_fractions",
                     "value": [0.5]}])",
                "row_groups[1].sample_fractions: there are no samples"}));

TEST(CaseFileTest, WhatIsNotJsonIsRefused) {
  EXPECT_EQ(ErrorText(ParseCaseFile("{\"config\":\n  ,").status()),
            "not a JSON document: line 2, column 3");
  EXPECT_EQ(ErrorText(ParseCaseFile("").status()),
            "not a JSON document: line 1, column 0");
  EXPECT_EQ(ErrorText(ParseCaseFile("5E777").status()),
            "a number is beyond what a double holds");
  EXPECT_FALSE(ParseCaseFile(std::string(200'000, '[')).ok());
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  EXPECT_FALSE(ParseCaseFile(deep).ok());
  EXPECT_FALSE(ParseCaseFile("{\"config\": {}, \"sort_order\": [], \"partition_spec\": "
                             "[], \"row_groups\": [" +
                             deep + "]}")
                   .ok());
}

}  // namespace
}  // namespace firn::planner
