#pragma once

#include <string>
#include <vector>

#include "firn/cli/commands.h"
#include "firn/core/status.h"
#include "firn/sources/files/file_source.h"
#include "firn/sources/files/record_reader.h"
#include "firn/types/schema.h"
#include "firn/wal/load_manifest.h"

namespace firn::cli {

/// A usage error for an input that is no file of this machine ("s3://bucket/a.csv"), or
/// Parquet on standard input, with what to do instead.
Status CheckInput(const LoadArguments& arguments);

/// How the files are to be read. A usage error if the arguments do not say that.
Result<sources::FileOptions> FileOptionsOf(const LoadArguments& arguments);

/// The files as a load names them for good: absolute, with size and time of change; and
/// the options that say how they are read.
Result<wal::LoadManifest> ManifestOf(const LoadArguments& arguments,
                                     const std::vector<std::string>& files);

/// Invalid, saying what differs, if a load that was begun with `frozen` cannot go on with
/// `now`.
Status CheckSameLoad(const std::string& id, const wal::LoadManifest& frozen,
                     const wal::LoadManifest& now);

/// The schema for a new table: the one that is given, else the one that the files tell;
/// what is to be known of it goes to stderr.
Result<types::Schema> SchemaForNewTable(const CommandContext& context,
                                        const LoadArguments& arguments,
                                        const std::vector<std::string>& files,
                                        const sources::FileOptions& options);

struct CheckedRecords {
  std::int64_t fit = 0;
  std::int64_t dead = 0;
  /// The first few dead letters, a line each.
  std::vector<std::string> examples;
};

/// Reads all records of a load and lands none. Stops at the `dead_max`-th that does not
/// fit.
Result<CheckedRecords> CheckRecords(const CommandContext& context, sources::FileLoad load,
                                    std::int64_t dead_max);

}  // namespace firn::cli
