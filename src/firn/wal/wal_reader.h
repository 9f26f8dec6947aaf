#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
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

/// Footers that one call reads at the same time, if there are many: from a store behind a
/// network each takes a round trip, and hardly any work.
inline constexpr std::size_t kFooterReadsAtOnce = 16;

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

  /// The footers of these segments of the table, one for each. NotFound if one was
  /// deleted meanwhile, Conflict if one is on its way out of quarantine: reload the
  /// positions and try again. Corruption as ReadSegmentFooter, and if a segment is of
  /// another table. Of several errors the first in the order of `segments`. Cancelled,
  /// also between two footers, if the stop token fires.
  Result<std::vector<ReadSegment>> ReadFooters(
      const TableUuid& table, const std::vector<const SegmentObject*>& segments,
      const StopToken& stop = {});

  /// The same segments ready for admission; keeps no footer. Errors are the same.
  Result<std::vector<ListedSegment>> ReadRanges(
      const TableUuid& table, const std::vector<const SegmentObject*>& segments,
      const StopToken& stop = {});

  /// The table's segments above `positions`, ready for admission: one flat listing, and
  /// ReadRanges.
  Result<std::vector<ListedSegment>> ListSegments(const TableUuid& table,
                                                  const Positions& positions);

 private:
  struct Entry {
    std::string key;
    std::int64_t size_bytes = 0;
    ReadSegment segment;  // without `footer` until somebody asked for it
  };

  /// Tells `take` of each segment's footer, of several at the same time.
  Status ForEachFooter(const TableUuid& table,
                       const std::vector<const SegmentObject*>& segments,
                       const StopToken& stop,
                       const std::function<void(std::size_t, ReadSegment)>& take);
  Result<ReadSegment> ReadOne(const TableUuid& table, const SegmentObject& segment);
  Result<ReadSegment> Find(const std::string& key, std::int64_t size_bytes);
  void Remember(const std::string& key, std::int64_t size_bytes, ReadSegment segment);

  Runtime& runtime_;
  storage::ObjectStore& store_;
  Mutex mutex_;
  std::list<Entry> entries_;                                 // guarded by mutex_
  std::map<std::string, std::list<Entry>::iterator> index_;  // guarded by mutex_
};

/// Those of a listing that `positions` have not passed.
std::vector<const SegmentObject*> SegmentsAbove(const Positions& positions,
                                                const std::vector<ShardListing>& shards);

/// As the listing alone shows it, without ranges.
ListedSegment ListedOf(const SegmentObject& segment);

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
