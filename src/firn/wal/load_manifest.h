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

struct LoadFile {
  std::string path;
  std::int64_t size_bytes = 0;

  bool operator==(const LoadFile&) const = default;
};

/// The files of one load, in the order in which their records are numbered.
struct LoadManifest {
  std::vector<LoadFile> files;

  bool operator==(const LoadManifest&) const = default;
};

/// Invalid, saying what is allowed, if `id` cannot name a load: 1 to 128 letters, digits,
/// '.', '_' and '-', the first a letter or digit.
Status CheckLoadId(std::string_view id);

/// Source id of the records of one file of a load; their offsets count from 0.
std::string LoadSourceId(std::string_view id, std::size_t file);

/// Freezes the file list of a load in the WAL root, and returns what is frozen: the list
/// of an earlier call with this id and table if there was one, whatever `manifest` says.
Result<LoadManifest> FreezeLoad(storage::ObjectStore& store, const TableUuid& table,
                                std::string_view id, const LoadManifest& manifest);

/// NotFound if the load was never begun.
Result<LoadManifest> ReadLoad(storage::ObjectStore& store, const TableUuid& table,
                              std::string_view id);

/// Ids of all loads of a table, by name.
Result<std::vector<std::string>> ListLoads(storage::ObjectStore& store,
                                           const TableUuid& table);

}  // namespace firn::wal
