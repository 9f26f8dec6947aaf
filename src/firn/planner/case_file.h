#pragma once

#include <deque>
#include <string>
#include <string_view>

#include "firn/core/status.h"
#include "firn/planner/legend.h"
#include "firn/planner/plan.h"

// A case file describes the runs and limits of one plan in JSON, so that a plan can be
// made, repeated and shown around without a table:
//
//   config          lower_bound_input_bytes_per_task, upper_bound_input_bytes_per_task,
//                   max_row_groups_per_task, oversized_clusters ("cut_at_keys" or
//                   "split_row_groups"), non_empty_partition_fields; what is left out has
//                   its default, any other name is an error
//   sort_order      of each key column: column, type, direction ("asc", "desc"), nulls
//                   ("first", "last"); [] for a table without a sort order
//   partition_spec  of each field: name, source, transform; [] if unpartitioned
//   row_groups      of each run: segment, row_group, bytes, rows, partition (an object
//                   of values by name), min_key and max_key (its first and last key in
//                   sort order), optional samples (keys, ascending) with
//                   sample_fractions (even by default)
//
// Values are Iceberg's single-value JSON, but timestamps are integers and NaN is "NaN".
// Two forms go beyond values: a key may be text "0x<hex>" with its normalized bytes (a
// truncated key has no values), and a max_key of null is above every key. What else
// stands in a document (a name, an expectation) is not looked at.
//
// An identity or truncate field takes its type from the key column of the same source,
// else from its first value. Several runs of one row group are entries of the same
// segment and row_group; they are of different partitions, and that tells them apart.

namespace firn::planner {

struct CaseFile {
  CaseFile() = default;
  CaseFile(CaseFile&&) = default;
  CaseFile& operator=(CaseFile&&) = default;

  PlanInput input;
  Limits limits;
  /// One entry each for keys and partitions.
  Legend legend;
  /// Owns the keys that `input` views.
  std::deque<std::string> keys;
};

/// Invalid, naming the place and what is wrong with it ("row_groups[3].max_key: ..."), if
/// the document does not describe a plan.
Result<CaseFile> ParseCaseFile(std::string_view text);

/// The inverse: ParseCaseFile of the result makes the same plan. Invalid if the input has
/// more than one partition spec or kind of key, which a case file cannot hold, or one
/// that the legend does not know. Without runs the sort order and the spec are left
/// empty.
Result<std::string> WriteCaseFile(const PlanInput& input, const Limits& limits,
                                  const Legend& legend);

}  // namespace firn::planner
