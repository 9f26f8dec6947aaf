#pragma once

#include <cstdint>
#include <vector>

#include "firn/planner/piece.h"
#include "firn/planner/plan.h"

namespace firn::planner {

struct CutParts {
  /// In key order, pieces of a part in run order. They do not overlap, but for those that
  /// came from an uncut part.
  std::vector<std::vector<Piece>> parts;
  std::int64_t uncut_parts = 0;
};

/// Cuts pieces of one bucket into parts of about equal size, none of them far above
/// `bytes_max` where a key allows that.
///
/// Cuts stand at candidates only: keys that are the first of a piece, or a sample
/// strictly inside one, and above the smallest first key. With B bytes and n = ceil(B /
/// bytes_max), cut i is the candidate below which the estimated bytes are nearest to i *
/// B / n. A part over 1.25 x bytes_max that holds a candidate is cut again; one over
/// bytes_max that holds none is split by row groups and counted.
///
/// How the rule is read where it leaves room:
/// - Estimates are whole bytes, rounded down per piece; so is a slice's share of bytes
///   and rows. A slice's fractions are the run's, moved and stretched to 0..1.
/// - Repeated samples: at the key the smallest fraction holds, above it the largest is
///   the lower neighbour.
/// - A slice's from_key is null where the piece begins at or above the part's first key,
///   and its to_key is null where the piece ends inside the part.
/// - Samples out of order or outside the piece are passed over, fractions that fall or
///   leave 0..1 are brought back: a bad footer gives uneven parts, nothing worse.
///
/// REQUIRES: `pieces` in run order, bytes_max > 0. O(n log n) in pieces, samples and
/// slices made.
CutParts CutAtKeys(const PlanInput& input, std::vector<Piece> pieces,
                   std::int64_t bytes_max);

}  // namespace firn::planner
