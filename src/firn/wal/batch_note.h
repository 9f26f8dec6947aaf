#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "firn/core/ids.h"
#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/storage/object_store.h"

/// Notes of batches whose data files are being written: `batches/<table uuid>/<batch id>`
/// below the WAL root. A note is there before the first file is, and goes once a commit
/// names the files; so what a batch leaves behind that is never committed can be found
/// without a look at all files of the table.
namespace firn::wal {

inline constexpr std::string_view kBatchesPrefix = "batches/";

struct BatchNote {
  /// The name of the table that is to have the batch: a catalog may have one table under
  /// several names, whose snapshots differ.
  std::string owner;
  /// What the location of each of the batch's files begins with.
  std::vector<std::string> prefixes;

  bool operator==(const BatchNote&) const = default;
};

/// Durable once it returns OK.
Status NoteBatch(storage::ObjectStore& store, const TableUuid& table,
                 const BatchId& batch, const BatchNote& note);

struct NotedBatch {
  BatchId batch;
  /// By the store's clock.
  WallTime noted;

  bool operator==(const NotedBatch&) const = default;
};

/// In order of their ids.
Result<std::vector<NotedBatch>> ListNotedBatches(storage::ObjectStore& store,
                                                 const TableUuid& table);

/// NotFound if there is no note; Corruption if it is malformed.
Result<BatchNote> ReadBatchNote(storage::ObjectStore& store, const TableUuid& table,
                                const BatchId& batch);

/// OK also if there is no note.
Status ForgetBatch(storage::ObjectStore& store, const TableUuid& table,
                   const BatchId& batch);

}  // namespace firn::wal
