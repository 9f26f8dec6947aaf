#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace firn {

/// A value that cannot be confused with another of the same representation.
template <typename Tag, typename Representation>
class StrongId {
 public:
  StrongId() = default;
  explicit StrongId(Representation value) : value_(std::move(value)) {}
  const Representation& value() const { return value_; }
  auto operator<=>(const StrongId&) const = default;
  bool operator==(const StrongId&) const = default;

 private:
  Representation value_{};
};

/// Field id of an Iceberg schema; the only identity of a column.
using FieldId = std::int32_t;

using SchemaId = StrongId<struct SchemaIdTag, std::int32_t>;
using PartitionSpecId = StrongId<struct PartitionSpecIdTag, std::int32_t>;
using SortOrderId = StrongId<struct SortOrderIdTag, std::int32_t>;
using SnapshotId = StrongId<struct SnapshotIdTag, std::int64_t>;
/// Sequence number of a snapshot (Iceberg spec, "Sequence Numbers").
using SnapshotSequence = StrongId<struct SnapshotSequenceTag, std::int64_t>;

/// Text of the table's uuid, lower case.
using TableUuid = StrongId<struct TableUuidTag, std::string>;
/// ULID that names one WAL root for good.
using WalId = StrongId<struct WalIdTag, std::string>;
/// `<node>-<ULID>`: one writer's series of segments for one table.
using ShardId = StrongId<struct ShardIdTag, std::string>;
/// Number of a segment in its shard: 1, 2, 3, ...
using SegmentSequence = StrongId<struct SegmentSequenceTag, std::uint64_t>;
/// ULID of one batch, that is of one iteration of one table.
using BatchId = StrongId<struct BatchIdTag, std::string>;

}  // namespace firn

template <typename Tag, typename Representation>
struct std::hash<firn::StrongId<Tag, Representation>> {
  std::size_t operator()(const firn::StrongId<Tag, Representation>& id) const {
    return std::hash<Representation>{}(id.value());
  }
};

template <typename Tag, typename Representation>
struct fmt::formatter<firn::StrongId<Tag, Representation>>
    : fmt::formatter<Representation> {
  template <typename Context>
  auto format(const firn::StrongId<Tag, Representation>& id, Context& context) const {
    return fmt::formatter<Representation>::format(id.value(), context);
  }
};
