#include "firn/planner/piece.h"

namespace firn::planner {

Piece WholeRun(const PlanInput& input, std::uint32_t run, bool oversized) {
  const Run& source = input.runs[run];
  return {.slice = {.run = run, .bytes = source.bytes, .rows = source.rows},
          .oversized = oversized};
}

std::int64_t TotalBytes(std::span<const Piece> pieces) {
  std::int64_t bytes = 0;
  for (const Piece& piece : pieces) bytes += piece.slice.bytes;
  return bytes;
}

Chunk ToChunk(const PlanInput& input, std::span<const Piece> pieces) {
  Chunk chunk{.bucket = input.runs[pieces.front().slice.run].bucket};
  chunk.runs.reserve(pieces.size());
  for (const Piece& piece : pieces) {
    chunk.bytes += piece.slice.bytes;
    chunk.rows += piece.slice.rows;
    chunk.split |= piece.oversized;
    chunk.runs.push_back(piece.slice);
  }
  return chunk;
}

}  // namespace firn::planner
