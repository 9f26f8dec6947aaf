#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/parquet_io/row_group_source.h"
#include "firn/storage/object_store.h"
#include "firn/wal/admission.h"
#include "firn/wal/extraction.h"
#include "firn/wal/segment.h"
#include "firn/wal/wal_root.h"

namespace firn::wal {

/// Footers that a reader keeps; the one that was not asked for longest goes first.
inline constexpr std::size_t kFootersCachedMax = 4096;

/// A segment's footer, as Parquet and as Firn understands it.
struct ReadSegment {
  /// Null for a segment in quarantine; `footer` then has ranges and no row groups.
  parquet_io::Footer parquet;
  std::shared_ptr<const SegmentFooter> footer;
};

/// Segments ready for admission, and what their footers say.
struct SegmentListing {
  std::vector<ListedSegment> segments;
  /// One for each segment.
  std::vector<ReadSegment> footers;
};

/// Reads footers below a WAL root. It knows how to extract, not what it means.
///
/// One GET of the tail per file and size (a second if the footer is longer than
/// parquet_io::kFooterReadBytes), none if it is cached. Thread-safe.
class WalReader {
 public:
  /// Both must outlive the reader; `store` is the WAL root.
  WalReader(Runtime& runtime, storage::ObjectStore& store);

  /// What the extractions find, for each row group of the file.
  Result<ExtractedRowGroups> Extract(const std::string& key, std::int64_t size_bytes,
                                     const std::vector<Extraction>& extractions);

  /// Corruption, naming the segment, if the file is damaged; Invalid if a newer Firn
  /// wrote it.
  Result<ReadSegment> ReadSegmentFooter(const std::string& key, std::int64_t size_bytes);

  /// The table's segments above `positions`, ready for admission: one flat listing, and
  /// the footers. NotFound if one was deleted meanwhile, Conflict if one is on its way
  /// out of quarantine: reload the positions and try again.
  Result<std::vector<ListedSegment>> ListSegments(const TableUuid& table,
                                                  const Positions& positions);

  /// The same of a listing that is there already, and all footers; errors are the same.
  /// Cancelled, also between two footers, if the stop token fires.
  Result<SegmentListing> ReadSegments(const TableUuid& table,
                                      const std::vector<ShardListing>& shards,
                                      const Positions& positions,
                                      const StopToken& stop = {});

 private:
  struct Entry {
    std::string key;
    std::int64_t size_bytes = 0;
    ReadSegment segment;  // without `footer` until somebody asked for it
  };

  Result<ReadSegment> Find(const std::string& key, std::int64_t size_bytes);
  void Remember(const std::string& key, std::int64_t size_bytes, ReadSegment segment);

  storage::ObjectStore& store_;
  Mutex mutex_;
  std::list<Entry> entries_;                                 // guarded by mutex_
  std::map<std::string, std::list<Entry>::iterator> index_;  // guarded by mutex_
};

/// What a Parquet footer says, without any I/O. `name` is for messages.
Result<ExtractedRowGroups> ExtractFrom(std::string_view name,
                                       const parquet_io::Footer& footer,
                                       const std::vector<Extraction>& extractions);

/// Decodes the part of a Parquet footer that makes it a segment's. Corruption, naming row
/// group and column, also if it contradicts the statistics that Parquet keeps of the same
/// values. `segment` is for messages.
Result<SegmentFooter> DecodeFooter(std::string_view segment,
                                   const parquet_io::Footer& footer);

}  // namespace firn::wal
