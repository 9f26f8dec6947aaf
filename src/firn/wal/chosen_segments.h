#pragma once

#include <cstdint>
#include <vector>

#include "firn/core/ids.h"
#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/wal/admission.h"
#include "firn/wal/wal_reader.h"
#include "firn/wal/wal_root.h"

namespace firn::wal {

/// One that an iteration takes.
struct ChosenSegment {
  SegmentName name;
  std::int64_t size_bytes = 0;
  std::vector<SourceTrim> trims;
  ReadSegment read;
};

struct ChosenSegments {
  /// In the order of the admission.
  std::vector<ChosenSegment> segments;
  /// Its indices are into all segments above the positions (SegmentsAbove).
  Admission admission;
};

/// What an iteration may take.
struct SegmentChoice {
  const TableUuid& table;
  const std::vector<ShardListing>& shards;
  const Positions& from;
  AdmissionLimits limits;
};

/// Admits the segments that Admit would, and reads their footers. It may take fewer where
/// the first one that is over `bytes_max` would wait, and name fewer shards that wait,
/// but only if it takes any.
///
/// However many segments there are, no more footers are read than can be admitted, with
/// two exceptions, in which the ranges of all are looked at: a source has no position
/// yet, so that any segment may hold where it begins; or a shard waits for a source, and
/// any may hold what it waits for. Errors as WalReader::ReadFooters.
Result<ChosenSegments> ChooseSegments(WalReader& reader, const SegmentChoice& choice,
                                      const StopToken& stop);

}  // namespace firn::wal
