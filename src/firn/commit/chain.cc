#include "firn/commit/chain.h"

#include "firn/core/guard.h"

namespace firn::commit {
namespace {

std::size_t CountLanded(const iceberg::TableMetadata& metadata, const WalId& wal,
                        const TablePositions& positions,
                        const std::vector<Batch>& batches) {
  for (std::size_t count = batches.size(); count > 0; --count) {
    const Batch& batch = batches[count - 1];
    if (positions.last_batch == batch.id) return count;
    if (FindBatchSnapshot(metadata, wal, batch) != nullptr) return count;
  }
  return 0;
}

}  // namespace

ChainVerdict JudgeChain(const iceberg::TableMetadata& metadata, const WalId& wal,
                        const TablePositions& positions,
                        const std::vector<Batch>& batches) {
  ChainVerdict verdict = {.landed = CountLanded(metadata, wal, positions, batches)};
  std::optional<BatchId> last = positions.last_batch;
  wal::Positions reached = positions.reached;
  for (std::size_t i = verdict.landed; i < batches.size(); ++i) {
    const Batch& batch = batches[i];
    const bool follows = FIRN_GUARD(kChain, batch.parent == last) &&
                         FIRN_GUARD(kPositions, StartsAt(batch, reached));
    if (!follows) break;
    last = batch.id;
    reached = PositionsAfter(std::move(reached), batch);
    ++verdict.ready;
  }
  return verdict;
}

}  // namespace firn::commit
