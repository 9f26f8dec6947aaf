#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "firn/cli/catalog_config.h"
#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/planner/plan.h"

namespace firn::cli {

struct WalConfig {
  /// Empty = wal/ in the warehouse.
  std::string path;
  std::int64_t flush_bytes = 32LL << 20;
  Duration flush_age = std::chrono::seconds(1);
  std::int64_t row_group_bytes = 8LL << 20;
  /// Of one table: beyond it `serve` refuses records.
  std::int64_t max_uncommitted_bytes = 64LL << 30;
  Duration retention = std::chrono::hours(1);
  Duration dead_after = std::chrono::hours(24);
};

struct ShiftConfig {
  std::int64_t iteration_bytes = 4LL << 30;
  std::int64_t lower_bound_input_bytes_per_task = 64LL << 20;
  std::int64_t upper_bound_input_bytes_per_task = 128LL << 20;
  std::int64_t max_row_groups_per_task = 4096;
  planner::OversizedClusters oversized_clusters = planner::OversizedClusters::kCutAtKeys;
  /// Nothing = twice the upper bound.
  std::optional<std::int64_t> writer_max_parquet_bytes;
  std::int64_t workers = 2;
  /// For `serve`: uncommitted segments of a table of that size, or that old, are shifted.
  std::int64_t start_bytes = 256LL << 20;
  Duration max_age = std::chrono::seconds(60);

  std::int64_t file_bytes_max() const {
    return writer_max_parquet_bytes.value_or(2 * upper_bound_input_bytes_per_task);
  }
};

/// For `serve`.
struct HttpConfig {
  /// "address:port"; port 0 = one that is free.
  std::string listen = "127.0.0.1:8080";
  /// As it is sent.
  std::int64_t max_body_bytes = 16LL << 20;
  /// Without its compression.
  std::int64_t max_decompressed_bytes = 64LL << 20;
  std::int64_t max_header_bytes = 16LL << 10;
  std::int64_t max_connections = 8192;
  /// See http::ServerOptions.
  Duration idle_timeout = std::chrono::seconds(75);
  Duration request_timeout = std::chrono::seconds(60);
  Duration answer_timeout = std::chrono::seconds(60);
};

/// For `serve`: a folder whose files are taken as they come (jobs::FollowedFolder).
struct FolderConfig {
  std::string table;
  std::string path;
  std::string pattern = "*";
  /// As of `load`; empty = told by each file's name or content.
  std::string format;
  std::string delimiter;
  std::vector<std::string> null_values;
  bool header = true;
  Duration stable_for = std::chrono::seconds(5);
  Duration poll_interval = std::chrono::seconds(1);
};

/// For `serve`: see jobs::DeadLetterAlarm.
struct DeadLetterConfig {
  std::int64_t alarm_records = 1000;
  Duration alarm_interval = std::chrono::minutes(1);
};

/// What becomes of fields that a table does not have: their records do not fit, columns
/// are added for them, or they go to a column of their own.
enum class SchemaEvolution { kNone, kAdd, kMap };

struct TableConfig {
  std::vector<std::string> non_empty_partition_fields;
  SchemaEvolution schema_evolution = SchemaEvolution::kNone;
  /// With kMap, and only then: see sources::FileOptions.
  std::string unknown_fields_column;
  /// "COLUMN=UNIT" each, as of `load --time-unit`; for `serve`.
  std::vector<std::string> time_units;
  /// Leave out fields that the table does not have; for `serve`.
  bool ignore_unknown = false;
};

/// Who may read, on this machine's disks, what Firn makes there.
enum class LocalFiles { kOwner, kUmask };

/// What firn.yaml says, with defaults for what it does not.
struct Config {
  CatalogConfig catalog;
  WalConfig wal;
  ShiftConfig shift;
  /// Runs that a merge has open at once.
  std::int64_t merge_max_open_runs = 1024;
  std::int64_t commit_queue_size = 4;
  std::int64_t memory_limit = 2LL << 30;
  HttpConfig http;
  DeadLetterConfig dead_letters;
  std::vector<FolderConfig> source_files;
  /// How long `serve` takes at most to end.
  Duration shutdown_timeout = std::chrono::seconds(30);
  LocalFiles local_files = LocalFiles::kOwner;
  std::map<std::string, TableConfig> tables;
};

/// Reads YAML text. Invalid, with `file`, line and the nearest known key, for an unknown
/// key, a wrong unit or type, or bounds that contradict each other. `${NAME}` in a value
/// is replaced by the environment's.
Result<Config> ParseConfig(const std::string& text, const std::string& file);

/// What the command line says about the configuration.
struct ConfigSource {
  std::optional<std::string> file;
  std::optional<std::string> warehouse;
};

/// Reads the file, else $FIRN_CONFIG, else ./firn.yaml if there is one; then what
/// PyIceberg's files and variables say about the catalog that it names, for what it does
/// not say itself. Without a file, and without a warehouse on the command line, the
/// catalog is PyIceberg's default one if that has properties there. Invalid, too, if no
/// catalog can be opened with them all, with the place of the property that is wrong.
Result<Config> LoadConfig(const ConfigSource& source);

}  // namespace firn::cli
