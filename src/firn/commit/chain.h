#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "firn/commit/batch.h"
#include "firn/commit/positions.h"
#include "firn/iceberg/metadata/table_metadata.h"

namespace firn::commit {

/// What the table says about batches that wait to be committed, in their order:
/// first those that landed, then those that may be committed now; the rest is superseded.
struct ChainVerdict {
  std::size_t landed = 0;
  std::size_t ready = 0;

  bool operator==(const ChainVerdict&) const = default;
};

/// A batch has landed if the table's last batch, or the summary of a snapshot in main's
/// history, names it, or if a batch behind it has. The first one that has not may be
/// committed if its parent is the table's last batch (nothing being a parent too) and its
/// ranges start at the table's positions; each further one, if its parent is the one
/// before it and its ranges start where that one ends. Pure.
ChainVerdict JudgeChain(const iceberg::TableMetadata& metadata, const WalId& wal,
                        const TablePositions& positions,
                        const std::vector<Batch>& batches);

}  // namespace firn::commit
