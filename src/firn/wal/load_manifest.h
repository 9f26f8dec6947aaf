#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "firn/core/status.h"
#include "firn/storage/object_store.h"
#include "firn/wal/segment.h"

namespace firn::wal {

/// Where the file lists lie below the WAL root: `loads/<table uuid>/<id>`.
inline constexpr std::string_view kLoadsPrefix = "loads/";
/// The same for the loads that have ended; empty objects.
inline constexpr std::string_view kEndedLoadsPrefix = "ended-loads/";

/// Notes on files of followed folders: `taken-files/<table uuid>/<load id>.<stamp>`.
inline constexpr std::string_view kTakenFilesPrefix = "taken-files/";

struct LoadFile {
  std::string path;
  /// 0, both, for what is no file: a pipe.
  std::int64_t size_bytes = 0;
  /// Nanoseconds since 1970. With the size it tells whether the file is still the one
  /// that was begun with.
  std::int64_t modified_ns = 0;

  bool operator==(const LoadFile&) const = default;
};

/// What a load reads: its files, in the order in which their records are numbered, and
/// how they are read. All of it must stay the same for a load to go on.
struct LoadManifest {
  std::vector<LoadFile> files;
  /// As a user would give them, in a fixed order: "--delimiter ;".
  std::vector<std::string> options;

  bool operator==(const LoadManifest&) const = default;
};

/// Invalid, saying what is allowed, if `id` cannot name a load: 1 to 128 letters, digits,
/// '.', '_' and '-', the first a letter or digit.
Status CheckLoadId(std::string_view id);

/// Source id of the records of one file of a load; their offsets count from 0.
std::string LoadSourceId(std::string_view id, std::size_t file);
/// Whether a source is such a file: its records are numbered from 0 on.
bool IsLoadSource(std::string_view source);

/// Freezes what a load reads in the WAL root, and returns what is frozen: that of an
/// earlier call with this id and table if there was one, whatever `manifest` says.
Result<LoadManifest> FreezeLoad(storage::ObjectStore& store, const TableUuid& table,
                                std::string_view id, const LoadManifest& manifest);

/// NotFound if the load was never begun.
Result<LoadManifest> ReadLoad(storage::ObjectStore& store, const TableUuid& table,
                              std::string_view id);

/// Notes that every record of a load is durable: from now on its id is remembered for
/// twice `wal.dead_after` (see retirement.h). Said again, the time begins anew.
Status EndLoad(storage::ObjectStore& store, const TableUuid& table, std::string_view id);

struct EndedLoad {
  std::string id;
  /// Microseconds since 1970, by the store's clock.
  std::int64_t ended_us = 0;

  bool operator==(const EndedLoad&) const = default;
};

/// By id.
Result<std::vector<EndedLoad>> ListEndedLoads(storage::ObjectStore& store,
                                              const TableUuid& table);

/// Deletes the file list, then the note of the end: an id can be used anew.
Status ForgetLoad(storage::ObjectStore& store, const TableUuid& table,
                  std::string_view id);

/// A file of a followed folder of which every record is durable.
struct TakenFile {
  /// Of the load that took it, which knows path, size and content.
  std::string id;
  /// Digits that stand for its path, size and time of change: with these it need not be
  /// read to be known.
  std::string stamp;

  auto operator<=>(const TakenFile&) const = default;
};

/// Notes it for good, also once the load is forgotten. `file` is what people find in the
/// note. Durable once it returns OK.
Status NoteTakenFile(storage::ObjectStore& store, const TableUuid& table,
                     const TakenFile& taken, const LoadFile& file);

/// By id and stamp; one listing.
Result<std::vector<TakenFile>> ListTakenFiles(storage::ObjectStore& store,
                                              const TableUuid& table);

/// Ids of all loads of a table, by name.
Result<std::vector<std::string>> ListLoads(storage::ObjectStore& store,
                                           const TableUuid& table);

}  // namespace firn::wal
