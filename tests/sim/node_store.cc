#include "node_store.h"

#include <utility>

#include "firn/wal/segment.h"
#include "rules.h"

namespace firn::sim {

Status NodeStore::PutWhole(std::string_view key, std::string_view bytes,
                           storage::PutMode mode) {
  const auto put = [&inner = inner_, mode, key = std::string(key)](std::string sent) {
    return [&inner, mode, key, sent = std::move(sent)] {
      return inner.PutWhole(key, sent, mode);
    };
  };
  std::string other = OtherBytesOfSegment(key, bytes);
  return network_.Call<Status>(node_, CallKind::kWrite, put(std::string(bytes)),
                               put(std::move(other)));
}

std::string NodeStore::OtherBytesOfSegment(std::string_view key, std::string_view bytes) {
  if (!IsBroken(Rule::kFrozenBytes) || !wal::ParseSegmentKey(key)) {
    return std::string(bytes);
  }
  const std::string before = std::exchange(last_segment_, std::string(bytes));
  return before.empty() ? last_segment_ : before;
}

Result<std::string> NodeStore::GetRange(std::string_view key, std::int64_t offset,
                                        std::int64_t length) {
  return network_.Call<Result<std::string>>(
      node_, CallKind::kRead, [&] { return inner_.GetRange(key, offset, length); });
}

Result<std::string> NodeStore::GetWhole(std::string_view key) {
  return network_.Call<Result<std::string>>(node_, CallKind::kRead,
                                            [&] { return inner_.GetWhole(key); });
}

Result<std::vector<storage::ObjectInfo>> NodeStore::List(std::string_view prefix) {
  return network_.Call<Result<std::vector<storage::ObjectInfo>>>(
      node_, CallKind::kRead, [&] { return inner_.List(prefix); });
}

Status NodeStore::Delete(std::string_view key) {
  return network_.Call<Status>(
      node_, CallKind::kWrite,
      [&inner = inner_, key = std::string(key)] { return inner.Delete(key); });
}

std::string NodeStore::Location(std::string_view key) const {
  return inner_.Location(key);
}

}  // namespace firn::sim
