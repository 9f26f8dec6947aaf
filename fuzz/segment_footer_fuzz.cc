// The key-values of a segment's footer. One that is read is written as the same bytes,
// but for keys that it did not need.
//
// The input is texts, each ended by a backslash and a line break (a backslash in a text
// is two): "<rows> <bytes>" for each row group, an empty one, then key and value in turn.
// Values of firn.rg.<i> and firn.source-ranges are raw, not base64, so that mutations
// meet the format itself.

#include <cstdio>

#include <fuzzer/FuzzedDataProvider.h>

#include "firn/core/base64.h"
#include "firn/wal/segment_format.h"
#include "fuzz_input.h"

namespace firn::wal {
namespace {

bool IsBinary(std::string_view key) {
  return key.starts_with("firn.rg.") || key == "firn.source-ranges";
}

std::vector<RowGroupFooter> TakeRowGroups(FuzzedDataProvider& input) {
  std::vector<RowGroupFooter> row_groups;
  while (true) {
    const std::string text = input.ConsumeRandomLengthString();
    long long rows = 0;
    long long bytes = 0;
    if (std::sscanf(text.c_str(), "%lld %lld", &rows, &bytes) != 2) return row_groups;
    row_groups.push_back({.rows = rows, .bytes = bytes, .runs_payload = std::nullopt});
  }
}

std::map<std::string, std::string> TakeKeyValues(FuzzedDataProvider& input) {
  std::map<std::string, std::string> key_values;
  while (input.remaining_bytes() > 0) {
    std::string key = input.ConsumeRandomLengthString();
    std::string value = input.ConsumeRandomLengthString();
    if (IsBinary(key)) value = EncodeBase64(value);
    key_values.insert_or_assign(std::move(key), std::move(value));
  }
  return key_values;
}

/// As the reader of segments finds them.
void AddRuns(const std::map<std::string, std::string>& key_values,
             std::vector<RowGroupFooter>& row_groups) {
  for (std::size_t i = 0; i < row_groups.size(); ++i) {
    const auto runs = key_values.find(fmt::format(kRunsPayloadKey, i));
    if (runs != key_values.end()) row_groups[i].runs_payload = runs->second;
  }
}

void Try(FuzzedDataProvider input) {
  std::vector<RowGroupFooter> row_groups = TakeRowGroups(input);
  const std::map<std::string, std::string> key_values = TakeKeyValues(input);
  AddRuns(key_values, row_groups);
  const auto footer = DecodeSegmentFooter("segment", row_groups, key_values);
  if (!footer.ok()) return;
  for (const auto& [key, value] : EncodeSegmentFooter(*footer)) {
    FIRN_CHECK(key_values.contains(key) && key_values.at(key) == value, "{}", key);
  }
}

}  // namespace
}  // namespace firn::wal

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  firn::wal::Try(FuzzedDataProvider(data, size));
  return 0;
}
