#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/type_fwd.h>

#include "firn/core/status.h"
#include "firn/order/sort_order.h"
#include "firn/types/schema.h"
#include "firn/types/value.h"

namespace firn::order {

/// One column of a key: what a value must be to be encoded.
struct KeyColumn {
  types::Type type;
  Direction direction = Direction::kAscending;
  NullOrder null_order = NullOrder::kNullsFirst;

  bool operator==(const KeyColumn&) const = default;
};

/// Keys of many rows: one buffer, and where each key starts (rows + 1 offsets).
struct EncodedKeys {
  std::string bytes;
  std::vector<std::uint64_t> offsets = {0};

  std::int64_t size() const { return static_cast<std::int64_t>(offsets.size()) - 1; }
  std::string_view operator[](std::int64_t row) const {
    return {bytes.data() + offsets[row], offsets[row + 1] - offsets[row]};
  }
};

/// Turns the values of a sort order into normalized keys: byte strings whose memcmp order
/// is the sort order.
///
/// A column is a null byte, then its value; ints are encoded as longs and floats as
/// doubles, so that a widened column keeps its order. Floats: -NaN < -inf < ... < -0.0 <
/// 0.0 < ... < +inf < NaN (Iceberg spec, "Sorting"). Strings and binary are compared by
/// unsigned bytes; an embedded NUL is escaped. No key is a prefix of another. Immutable,
/// thread-safe.
class KeyEncoder {
 public:
  explicit KeyEncoder(std::vector<KeyColumn> columns);

  /// The columns of `order`'s keys in `schema` (after the transform). Invalid, naming the
  /// field, if a source column is missing, nested in a list or map, or of a type that has
  /// no order.
  static Result<KeyEncoder> Make(const SortOrder& order, const types::Schema& schema);

  /// Appends the key of `values` (one per column) to `out`.
  void Encode(const std::vector<types::Value>& values, std::string& out) const;

  /// Back to values; ints come back as ints. Corruption if `key` was not encoded with
  /// these columns; a key truncated down or up gives its whole columns, and the part of a
  /// string that is there, so fewer values than columns.
  Result<std::vector<types::Value>> Decode(std::string_view key) const;

  const std::vector<KeyColumn>& columns() const { return columns_; }

  /// The part of a key's identity that planning depends on: keys of different text must
  /// never be compared.
  std::string KeyTypesText() const;

 private:
  std::vector<KeyColumn> columns_;
};

/// The key of a partition tuple: ascending, nulls first. As no key is a prefix of
/// another, a tuple's key followed by a row's key sorts by (tuple, key).
std::vector<KeyColumn> PartitionKeyColumns(const std::vector<types::Type>& types);

/// The keys of all rows of `batch`, whose columns are `schema`'s top-level fields in
/// order.
///
/// Transforms of the sort order are applied. Invalid as KeyEncoder::Make, and if a
/// column's Arrow type is not its ToArrowType. O(rows x columns).
Result<EncodedKeys> EncodeKeys(const SortOrder& order, const types::Schema& schema,
                               const arrow::RecordBatch& batch);

}  // namespace firn::order
