#include "firn/planner/split_row_groups.h"

#include <utility>

namespace firn::planner {

std::vector<std::vector<Piece>> SplitRowGroups(std::vector<Piece> pieces,
                                               const PartLimits& limits) {
  std::vector<std::vector<Piece>> parts;
  std::int64_t bytes = 0;  // of the last part
  for (Piece& piece : pieces) {
    const std::int64_t more = piece.slice.bytes;
    const bool full = parts.empty() || bytes + more > limits.bytes_max ||
                      static_cast<std::int64_t>(parts.back().size()) >= limits.pieces_max;
    if (full) {
      parts.emplace_back();
      bytes = 0;
    }
    parts.back().push_back(std::move(piece));
    bytes += more;
  }
  return parts;
}

}  // namespace firn::planner
