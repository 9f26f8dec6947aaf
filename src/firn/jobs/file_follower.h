#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "firn/core/ids.h"
#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/jobs/file_delivery.h"
#include "firn/jobs/pipeline.h"
#include "firn/sources/files/followed_folder.h"
#include "firn/sources/files/record_reader.h"
#include "firn/wal/load_manifest.h"

namespace firn::jobs {

/// A folder whose files go into a table.
struct FollowedFolder {
  std::string table;
  sources::FolderOptions files;
  /// The column for unknown fields is added to a table that lacks it.
  sources::FileOptions format;
  /// Change the table to hold a file's records (sources::FindWantedSchema).
  bool evolves = false;
  /// How often the folder is read.
  Duration poll_interval = std::chrono::seconds(1);
};

/// Takes each file that comes into a folder, once, on a thread of its own.
///
/// A file is known by its path, size and content, and taken as a load of the id that
/// they give (wal/load_manifest.h), so that a process that goes on after another adds
/// nothing twice. Once all its records are durable that is noted in the WAL root; the
/// file itself is left alone. A file that cannot be read to its end is left out, and
/// tried again once it was changed; other failures are tried again, and hold up the
/// folder's other files only until then.
class FileFollower {
 public:
  /// `pipeline` must outlive the follower.
  FileFollower(Pipeline& pipeline, FollowedFolder folder);
  ~FileFollower();

  /// Begins no more files, and gives up the one that is being read. Does not wait.
  void BeginStop() { stop_.RequestStop(); }
  void Join() { thread_.Join(); }

 private:
  void Run();
  /// Says what is wrong with the table, before the first file tells.
  void LookAtTable();
  /// Takes what is new.
  Status Pass();
  Status TakeNew(const sources::FolderFile& file);
  /// Reads what was noted of this table, if that is not known yet.
  Status ReadNotes(const TableUuid& table);
  Status EndNoted(const TableUuid& table);
  /// Of a load that was begun before: the first that is not durable.
  Result<std::int64_t> FindFirstRecord(const std::string& id, FileDelivery& delivery);
  /// `taken`: what is to be noted of it once it is durable.
  Status Take(const sources::FolderFile& file, const wal::TakenFile& taken,
              FileDelivery& delivery);
  /// What the table should become for the file, as far as that is wanted.
  Result<types::Schema> Wanted(const sources::FileLoad& load);
  /// Changes the table to hold the file, as far as that is wanted; then reads it once.
  Status Prepare(sources::FileLoad& load, FileDelivery& delivery);
  /// Makes all of a file durable.
  Status Land(sources::FileLoad load, const wal::LoadFile& file, FileDelivery& delivery);
  /// From then on it is known, and its load may be forgotten.
  Status Note(const wal::TakenFile& taken, const wal::LoadFile& file,
              const FileDelivery& delivery);
  void OnTaken(const sources::FolderFile& file, const wal::TakenFile& taken,
               const FileDelivery& delivery);
  void Tell(EventLevel level, const std::string& text);

  Pipeline& pipeline_;
  const FollowedFolder folder_;
  metrics::Counter& files_;
  metrics::Counter& failures_;
  /// Files that need no look until they change, by path.
  std::map<std::string, sources::FolderFile> known_;
  /// The table whose notes are in `taken_`.
  std::optional<TableUuid> table_;
  std::set<std::string> taken_ids_;
  std::set<std::string> taken_stamps_;
  StopSource stop_;
  Thread thread_;
};

}  // namespace firn::jobs
