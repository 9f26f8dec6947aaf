#include "firn/wal/key_samples.h"

#include <algorithm>
#include <string>

#include "firn/order/key_bound.h"

namespace firn::wal {
namespace {

/// FNV-1a, 64 bits, and a final mix, since names differ in their last digits only.
std::uint64_t Hash(std::string_view bytes) {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (const char byte : bytes) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001B3;
  }
  hash ^= hash >> 32;
  hash *= 0x9E3779B97F4A7C15;
  return hash ^ hash >> 29;
}

/// The first of rows [first, end) whose key is not below `key`.
std::int64_t LowerBound(const SortedRows& sorted, std::int64_t first, std::int64_t end,
                        std::string_view key) {
  while (first < end) {
    const std::int64_t middle = first + (end - first) / 2;
    if (sorted.key(middle) < key) {
      first = middle + 1;
    } else {
      end = middle;
    }
  }
  return first;
}

/// The row in which byte `bytes` of the rows from `first_row` on lies.
std::int64_t RowAt(const SortedRows& sorted, std::int64_t first_row, double bytes) {
  const auto begin = sorted.row_bytes.begin();
  const auto wanted = sorted.row_bytes[static_cast<std::size_t>(first_row)] +
                      static_cast<std::int64_t>(bytes);
  return std::upper_bound(begin + first_row, sorted.row_bytes.end(), wanted) - begin - 1;
}

}  // namespace

std::vector<KeySample> SampleKeys(const SortedRows& sorted, std::int64_t first_row,
                                  std::int64_t rows, std::size_t count, double shift) {
  std::vector<KeySample> samples;
  const auto total = static_cast<double>(sorted.bytes(first_row, rows));
  std::string last = order::TruncateKeyDown(sorted.key(first_row));
  for (std::size_t i = 0; i < count; ++i) {
    const double quantile = (static_cast<double>(i) + shift) / static_cast<double>(count);
    const std::int64_t row = RowAt(sorted, first_row, quantile * total);
    std::string key = order::TruncateKeyDown(sorted.key(row));
    if (key <= last) continue;
    const std::int64_t bound = LowerBound(sorted, first_row, row, key);
    const auto below = static_cast<double>(sorted.bytes(first_row, bound - first_row));
    samples.push_back({.key = key, .fraction = below / total});
    last = std::move(key);
  }
  return samples;
}

double SampleShift(std::string_view segment, std::size_t row_group) {
  const std::uint64_t hash = Hash(fmt::format("{}#{}", segment, row_group));
  return static_cast<double>(hash >> 11) / static_cast<double>(std::uint64_t{1} << 53);
}

}  // namespace firn::wal
