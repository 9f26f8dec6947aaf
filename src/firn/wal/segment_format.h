#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "firn/core/status.h"
#include "firn/wal/segment.h"

namespace firn::wal {

/// Key-value metadata of a Parquet file.
using KeyValues = std::vector<std::pair<std::string, std::string>>;

/// Where the runs of a row group stand: a KeyValuePayload.
inline constexpr std::string_view kRunsPayloadKey = "firn.rg.{}";

/// What a Parquet footer says of a row group.
struct RowGroupFooter {
  std::int64_t rows = 0;
  /// Total compressed size of its columns.
  std::int64_t bytes = 0;
  /// The text under kRunsPayloadKey; nothing if there is none.
  std::optional<std::string> runs_payload;
};

/// The key-values of a segment's footer, all values text (docs/formats/segment.md).
KeyValues EncodeSegmentFooter(const SegmentFooter& footer);

/// Ranges as they stand in the footer: base64 of *ranges*.
std::string EncodeSourceRanges(const std::vector<SourceRange>& ranges);
/// Nothing if `text` is not what EncodeSourceRanges gives.
std::optional<std::vector<SourceRange>> DecodeSourceRanges(std::string_view text);

/// The inverse of EncodeSegmentFooter, strict: every length is checked, and what it says
/// must agree with itself and with `row_groups`.
///
/// Corruption, naming `segment` and the row group, otherwise. Invalid, saying so, if a
/// newer Firn wrote it. Keys that do not begin with "firn." are ignored. Pure.
Result<SegmentFooter> DecodeSegmentFooter(
    std::string_view segment, const std::vector<RowGroupFooter>& row_groups,
    const std::map<std::string, std::string>& key_values);

}  // namespace firn::wal
