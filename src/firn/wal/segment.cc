#include "firn/wal/segment.h"

#include <algorithm>

#include <fmt/format.h>

#include "firn/core/whole_number.h"

namespace firn::wal {
namespace {

constexpr std::string_view kSuffix = ".parquet";
constexpr std::size_t kSequenceDigits = 20;

std::optional<SegmentSequence> ParseSequence(std::string_view digits) {
  if (digits.size() != kSequenceDigits) return std::nullopt;
  const auto sequence = ParseWholeNumber<std::uint64_t>(digits);
  if (!sequence || *sequence == 0) return std::nullopt;
  return SegmentSequence(*sequence);
}

}  // namespace

std::string SegmentKey(const SegmentName& name) {
  return fmt::format("{}/{}/{:020}{}", name.table_uuid, name.shard, name.sequence,
                     kSuffix);
}

std::optional<SegmentName> ParseSegmentKey(std::string_view key) {
  if (std::ranges::count(key, '/') != 2 || !key.ends_with(kSuffix)) return std::nullopt;
  const std::size_t shard = key.find('/') + 1;
  const std::size_t file = key.rfind('/') + 1;
  if (shard == 1 || file == shard + 1) return std::nullopt;
  const auto sequence =
      ParseSequence(key.substr(file, key.size() - file - kSuffix.size()));
  if (!sequence) return std::nullopt;
  return SegmentName{
      .table_uuid = TableUuid(std::string(key.substr(0, shard - 1))),
      .shard = ShardId(std::string(key.substr(shard, file - 1 - shard))),
      .sequence = *sequence,
  };
}

}  // namespace firn::wal
