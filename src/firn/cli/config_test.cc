#include "firn/cli/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace firn::cli {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

Result<Config> Parse(const std::string& text) { return ParseConfig(text, "firn.yaml"); }

std::string ErrorOf(const std::string& text) {
  const auto config = Parse(text);
  return config.ok() ? "no error" : ErrorText(config.status());
}

TEST(ConfigTest, AnEmptyFileIsTheDefaults) {
  const Config config = Parse("").ValueOrDie();
  EXPECT_EQ(config.catalog.warehouse(), "warehouse");
  EXPECT_EQ(config.wal.flush_bytes, 32 << 20);
  EXPECT_EQ(config.wal.row_group_bytes, 8 << 20);
  EXPECT_EQ(config.shift.lower_bound_input_bytes_per_task, 64 << 20);
  EXPECT_EQ(config.shift.upper_bound_input_bytes_per_task, 128 << 20);
}

TEST(ConfigTest, AFileRollsAtTwiceTheUpperBoundUnlessTold) {
  EXPECT_EQ(Parse("").ValueOrDie().shift.file_bytes_max(), 256 << 20);
  const std::string upper = "shift:\n  upper_bound_input_bytes_per_task: 100MiB\n";
  EXPECT_EQ(Parse(upper).ValueOrDie().shift.file_bytes_max(), 200 << 20);
  EXPECT_EQ(Parse(upper + "  writer_max_parquet_bytes: 150MiB\n")
                .ValueOrDie()
                .shift.file_bytes_max(),
            150 << 20);
}

TEST(ConfigTest, ReadsEverySection) {
  const Config config = Parse(R"(
warehouse: /data/lake
catalog: {name: prod, uri: "sqlite:////data/catalog.db"}
wal: {path: /fast/wal, flush_bytes: 512KiB, flush_age: 250ms, row_group_bytes: 1MiB}
shift:
  lower_bound_input_bytes_per_task: 1MiB
  upper_bound_input_bytes_per_task: 2MiB
  writer_max_parquet_bytes: 3MiB
  oversized_clusters: split_row_groups
  workers: 4
  start_bytes: 5MiB
  max_age: 2s
http: {listen: "[::1]:80", max_body_bytes: 1MiB, answer_timeout: 5s}
shutdown_timeout: 10s
merge:
  max_open_runs: 64
commit: {queue_size: 7}
memory_limit: 512MiB
tables:
  - {name: a.b, non_empty_partition_fields: [tenant_id, region]}
  - {name: a.c, schema_evolution: add, time_units: [ts=ms], ignore_unknown: true}
dead_letters: {alarm_records: 5, alarm_interval: 1h}
sources:
  files:
    - {table: a.b, path: in, pattern: "*.csv", header: false, stable_for: 1min}
)")
                            .ValueOrDie();
  EXPECT_EQ(config.catalog.name, "prod");
  EXPECT_EQ(config.shift.start_bytes, 5 << 20);
  EXPECT_EQ(config.shift.max_age, std::chrono::seconds(2));
  EXPECT_EQ(config.http.listen, "[::1]:80");
  EXPECT_EQ(config.http.max_body_bytes, 1 << 20);
  EXPECT_EQ(config.http.answer_timeout, std::chrono::seconds(5));
  EXPECT_THAT(config.tables.at("a.c").time_units, ElementsAre("ts=ms"));
  EXPECT_TRUE(config.tables.at("a.c").ignore_unknown);
  EXPECT_EQ(config.shutdown_timeout, std::chrono::seconds(10));
  EXPECT_EQ(config.wal.flush_age, std::chrono::milliseconds(250));
  EXPECT_EQ(config.shift.writer_max_parquet_bytes, 3 << 20);
  EXPECT_EQ(config.shift.oversized_clusters, planner::OversizedClusters::kSplitRowGroups);
  EXPECT_EQ(config.merge_max_open_runs, 64);
  EXPECT_EQ(config.commit_queue_size, 7);
  EXPECT_THAT(config.tables.at("a.b").non_empty_partition_fields,
              ElementsAre("tenant_id", "region"));
  EXPECT_EQ(config.tables.at("a.b").schema_evolution, SchemaEvolution::kNone);
  EXPECT_EQ(config.tables.at("a.c").schema_evolution, SchemaEvolution::kAdd);
  EXPECT_EQ(config.dead_letters.alarm_records, 5);
  EXPECT_EQ(config.dead_letters.alarm_interval, std::chrono::hours(1));
  ASSERT_EQ(config.source_files.size(), 1U);
  EXPECT_EQ(config.source_files[0].pattern, "*.csv");
  EXPECT_FALSE(config.source_files[0].header);
  EXPECT_EQ(config.source_files[0].stable_for, std::chrono::minutes(1));
}

TEST(ConfigTest, AnUnknownKeyNamesPlaceAndNearestKey) {
  EXPECT_EQ(ErrorOf("wal:\n  path: x\n  flush_byte: 1MiB\n"),
            "firn.yaml:3: wal.flush_byte: unknown key; the nearest known one is "
            "\"flush_bytes\"");
}

TEST(ConfigTest, WrongValuesNameTheirPlace) {
  EXPECT_THAT(ErrorOf("wal:\n  flush_bytes: 12 parsecs\n"),
              AllOf(HasSubstr("firn.yaml:2: wal.flush_bytes"), HasSubstr("64MiB")));
  EXPECT_THAT(ErrorOf("wal:\n  flush_bytes: 0\n"), HasSubstr("above 0"));
  EXPECT_EQ(ErrorOf("wal: {}\nmemory_limit: 1\n"),
            "firn.yaml:2: memory_limit: must be at least 8.0 MiB, not 1 B");
  EXPECT_THAT(ErrorOf("shift: {workers: two}\n"), HasSubstr("whole number"));
  EXPECT_THAT(ErrorOf("merge: {max_open_runs: 1}\n"), HasSubstr("at least 2"));
  EXPECT_THAT(ErrorOf("shift: {oversized_clusters: x}\n"), HasSubstr("cut_at_keys"));
  EXPECT_THAT(ErrorOf("wal: [1]\n"), HasSubstr("expected keys and values"));
  EXPECT_THAT(ErrorOf("wal: {path: {a: b}}\n"), HasSubstr("expected one value"));
  EXPECT_THAT(ErrorOf("wal: {path: a, path: b}\n"), HasSubstr("given twice"));
  EXPECT_THAT(ErrorOf("tables: [{}]\n"), HasSubstr("without a name"));
  EXPECT_THAT(ErrorOf("tables: [{name: a, schema_evolution: all}]\n"),
              HasSubstr("neither none nor add nor map"));
  EXPECT_THAT(ErrorOf("sources: {files: [{path: a}]}\n"), HasSubstr("needs a table"));
  EXPECT_THAT(ErrorOf("a: [\n"), HasSubstr("not valid YAML"));
  EXPECT_THAT(ErrorOf("wal:\n\tpath: x\n"), HasSubstr("indent with blanks"));
}

TEST(ConfigTest, UnknownFieldsNeedAColumnAndOnlyThey) {
  const Config config =
      Parse("tables: [{name: a, schema_evolution: map, unknown_fields_column: rest}]\n")
          .ValueOrDie();
  EXPECT_EQ(config.tables.at("a").schema_evolution, SchemaEvolution::kMap);
  EXPECT_EQ(config.tables.at("a").unknown_fields_column, "rest");
  EXPECT_THAT(ErrorOf("tables: [{name: a, schema_evolution: map}]\n"),
              HasSubstr("firn.yaml:1: tables[]: schema_evolution: map needs"));
  EXPECT_THAT(ErrorOf("tables: [{name: a, unknown_fields_column: rest}]\n"),
              HasSubstr("is for schema_evolution: map"));
  EXPECT_THAT(ErrorOf("tables: [{name: a, schema_evolution: map, ignore_unknown: true, "
                      "unknown_fields_column: rest}]\n"),
              HasSubstr("give one of the two"));
}

TEST(ConfigTest, BoundsMustAgree) {
  EXPECT_THAT(ErrorOf("shift: {upper_bound_input_bytes_per_task: 1MiB}\n"),
              HasSubstr("upper_bound_input_bytes_per_task (1.0 MiB) is below"));
  EXPECT_THAT(ErrorOf("shift: {writer_max_parquet_bytes: 1MiB}\n"),
              HasSubstr("writer_max_parquet_bytes (1.0 MiB) is below"));
  EXPECT_THAT(ErrorOf("shift: {workers: 4294967296}\n"), HasSubstr("more than 256"));
  EXPECT_THAT(ErrorOf("wal: {dead_after: 0s}\n"), HasSubstr("above 0"));
}

TEST(ConfigTest, VariablesComeFromTheEnvironment) {
  setenv("FIRN_TEST_FOLDER", "/data", 1);
  EXPECT_EQ(Parse("warehouse: ${FIRN_TEST_FOLDER}/lake").ValueOrDie().catalog.warehouse(),
            "/data/lake");
  EXPECT_THAT(ErrorOf("warehouse: ${FIRN_NO_SUCH_VARIABLE}\n"),
              HasSubstr("no variable FIRN_NO_SUCH_VARIABLE"));
}

}  // namespace
}  // namespace firn::cli
