#include "firn/commit/positions.h"

#include <algorithm>
#include <utility>

#include "firn/commit/history.h"
#include "firn/commit/position_owner.h"
#include "firn/core/ulid.h"
#include "firn/core/whole_number.h"

namespace firn::commit {
namespace {

constexpr std::string_view kFirnPrefix = "firn.";
constexpr std::string_view kKafkaPrefix = "firn.source.";
constexpr std::string_view kLoadPrefix = "firn.load.";

std::string Named(std::string_view prefix, const WalId& wal) {
  return fmt::format("{}{}", prefix, wal);
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

/// Digits alone, without zeros in front.
template <typename Number>
std::optional<Number> ParseNumber(std::string_view text) {
  if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
  if (text.size() > 1 && text.front() == '0') return std::nullopt;
  return ParseWholeNumber<Number>(text);
}

bool IsName(std::string_view text) {
  const auto is_allowed = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           c == '_' || c == '-' || c == '.';
  };
  return !text.empty() && std::ranges::all_of(text, is_allowed);
}

bool IsClusterName(std::string_view text) {
  return IsName(text) && text.find('.') == std::string_view::npos;
}

bool IsSourceProperty(std::string_view property) {
  return property.starts_with(kKafkaPrefix) || property.starts_with(kLoadPrefix);
}

/// The id of a source without its last part: "load:x" for firn.load.x. Nothing if the
/// property names no source.
std::optional<std::string> SourceIdStem(std::string_view property) {
  if (property.starts_with(kLoadPrefix)) {
    const std::string_view load = property.substr(kLoadPrefix.size());
    if (!IsName(load)) return std::nullopt;
    return fmt::format("load:{}", load);
  }
  const std::string_view names = property.substr(kKafkaPrefix.size());
  const std::size_t dot = names.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const std::string_view cluster = names.substr(0, dot);
  const std::string_view topic = names.substr(dot + 1);
  if (!IsClusterName(cluster) || !IsName(topic)) return std::nullopt;
  return fmt::format("kafka:{}:{}", cluster, topic);
}

Status Malformed(std::string_view property, std::string_view text,
                 std::string_view expected) {
  return Error(ErrorKind::kCorruption,
               "table property {} is '{}', expected {}; restore it from the table's "
               "earlier metadata",
               property, text, expected);
}

/// The values of "name:value,name:value", names ascending, by `parse_name` and as decimal
/// numbers of at least `least`.
template <typename Name, typename Number, typename ParseName>
Result<std::map<Name, Number>> ParseEntries(std::string_view property,
                                            std::string_view text, Number least,
                                            ParseName parse_name) {
  constexpr std::string_view kExpected = "<name>:<number>,... in order of the names";
  std::map<Name, Number> entries;
  for (const std::string_view part : Split(text, ',')) {
    const std::size_t colon = part.rfind(':');
    if (colon == std::string_view::npos) return Malformed(property, text, kExpected);
    const std::optional<Name> name = parse_name(part.substr(0, colon));
    const auto number = ParseNumber<Number>(part.substr(colon + 1));
    const bool is_valid = name.has_value() && number.has_value() && *number >= least;
    if (!is_valid) return Malformed(property, text, kExpected);
    const bool is_in_order = entries.empty() || entries.rbegin()->first < *name;
    if (!is_in_order) return Malformed(property, text, kExpected);
    entries.emplace(*name, *number);
  }
  return entries;
}

std::optional<ShardId> ParseShard(std::string_view text) {
  if (!IsName(text)) return std::nullopt;
  return ShardId(std::string(text));
}

/// "<name>:<first>-<last>".
template <typename Number>
struct NamedRange {
  std::string_view name;
  Number first = 0;
  Number last = 0;
};

template <typename Number>
std::optional<NamedRange<Number>> ParseRange(std::string_view text) {
  const std::size_t dash = text.rfind('-');
  const std::size_t colon = text.rfind(':');
  if (dash == std::string_view::npos || colon == std::string_view::npos || dash < colon)
    return std::nullopt;
  const auto first = ParseNumber<Number>(text.substr(colon + 1, dash - colon - 1));
  const auto last = ParseNumber<Number>(text.substr(dash + 1));
  if (!first || !last || *first > *last) return std::nullopt;
  return NamedRange<Number>{
      .name = text.substr(0, colon), .first = *first, .last = *last};
}

/// "<shard>:<after>-<through>", without the time.
std::optional<wal::CommittedRange> ParseShardRange(std::string_view text) {
  const auto range = ParseRange<std::uint64_t>(text);
  const auto shard = range ? ParseShard(range->name) : std::nullopt;
  if (!shard) return std::nullopt;
  return wal::CommittedRange{.shard = *shard,
                             .after = SegmentSequence(range->first),
                             .through = SegmentSequence(range->last),
                             .committed = {}};
}

Status MalformedSummary(const iceberg::Snapshot& snapshot, const std::string& entry,
                        const std::string& text) {
  return Error(ErrorKind::kCorruption, "snapshot {}: summary entry {} is '{}'",
               snapshot.snapshot_id, entry, text);
}

class PropertyReader {
 public:
  explicit PropertyReader(const iceberg::TableMetadata& metadata) : metadata_(metadata) {}

  const std::string* Find(std::string_view property) const {
    const auto found = metadata_.properties.find(std::string(property));
    return found == metadata_.properties.end() ? nullptr : &found->second;
  }

  Result<std::int64_t> Number(std::string_view property) const {
    const std::string* text = Find(property);
    if (text == nullptr) {
      return Error(ErrorKind::kCorruption,
                   "table property {} is missing beside the other positions; restore it "
                   "from the table's earlier metadata",
                   property);
    }
    const std::optional<std::int64_t> number = ParseNumber<std::int64_t>(*text);
    if (!number.has_value()) return Malformed(property, *text, "a decimal number");
    return *number;
  }

  Result<std::optional<BatchId>> LastBatch(const WalId& wal) const {
    const std::string property = Named(kCommitPrefix, wal);
    const std::string* text = Find(property);
    if (text == nullptr) return std::nullopt;
    if (!IsUlid(*text)) return Malformed(property, *text, "a ULID");
    return BatchId(*text);
  }

  Result<std::map<ShardId, SegmentSequence>> Shards(const WalId& wal) const {
    std::map<ShardId, SegmentSequence> shards;
    const std::string property = Named(kWalPrefix, wal);
    const std::string* text = Find(property);
    if (text == nullptr) return shards;
    FIRN_ASSIGN_OR_RETURN(const auto entries, (ParseEntries<ShardId, std::uint64_t>(
                                                  property, *text, 1, ParseShard)));
    for (const auto& [shard, sequence] : entries) {
      shards.emplace(shard, SegmentSequence(sequence));
    }
    return shards;
  }

  Result<std::map<std::string, std::int64_t>> Sources() const {
    std::map<std::string, std::int64_t> sources;
    for (const auto& [property, text] : metadata_.properties) {
      if (!IsSourceProperty(property)) continue;
      FIRN_RETURN_NOT_OK(ReadSource(property, text, sources));
    }
    return sources;
  }

 private:
  static Status ReadSource(const std::string& property, const std::string& text,
                           std::map<std::string, std::int64_t>& sources) {
    const std::optional<std::string> stem = SourceIdStem(property);
    if (!stem.has_value()) {
      return Error(ErrorKind::kCorruption,
                   "table property {} names no source; remove it if it is not Firn's",
                   property);
    }
    FIRN_ASSIGN_OR_RETURN(const auto entries,
                          (ParseEntries<std::int64_t, std::int64_t>(
                              property, text, 0, ParseNumber<std::int64_t>)));
    for (const auto& [entry, next] : entries) {
      sources.emplace(fmt::format("{}:{}", *stem, entry), next);
    }
    return Status::OK();
  }

  const iceberg::TableMetadata& metadata_;
};

/// No commit takes firn.commit away again: a WAL that main knows has it.
Status CheckKnowsLastBatch(const iceberg::TableMetadata& metadata, const WalId& wal) {
  const std::string property = Named(kCommitPrefix, wal);
  const iceberg::Snapshot* ours =
      FindInHistoryOfMain(metadata, [&](const iceberg::Snapshot& snapshot) {
        return snapshot.summary.contains(property);
      });
  if (ours == nullptr) return Status::OK();
  return Error(ErrorKind::kCorruption,
               "table property {} is missing, though snapshot {} of main is a commit of "
               "this WAL; restore it, and {}{}, from the table's earlier metadata",
               property, ours->snapshot_id, kWalPrefix, wal);
}

/// Whether `entry` of the snapshot's summary names the batch.
bool NamesBatch(const iceberg::Snapshot& snapshot, const std::string& entry,
                const BatchId& batch) {
  const auto ids = snapshot.summary.find(entry);
  if (ids == snapshot.summary.end()) return false;
  const std::vector<std::string_view> listed = Split(ids->second, ',');
  return std::ranges::find(listed, batch.value()) != listed.end();
}

bool IsOwned(std::string_view property, const WalId& wal) {
  return IsSourceProperty(property) || property == Named(kWalPrefix, wal) ||
         property == Named(kCommitPrefix, wal);
}

/// Adds "<name>:<value>" to the comma-separated text of `property`.
template <typename Name>
void AddEntry(const std::string& property, const Name& name, std::string_view value,
              std::map<std::string, std::string>& texts) {
  std::string& text = texts[property];
  if (!text.empty()) text += ',';
  text += fmt::format("{}:{}", name, value);
}

/// Adds what `value_text` makes of each source, in order of property and entry.
template <typename Value, typename ValueText>
Status AddSources(const std::map<std::string, Value>& sources, ValueText value_text,
                  std::map<std::string, std::string>& texts) {
  std::map<SourceEntry, std::string> values;
  for (const auto& [source, value] : sources) {
    FIRN_ASSIGN_OR_RETURN(SourceEntry entry, ParseSourceId(source));
    values.emplace(std::move(entry), value_text(value));
  }
  for (const auto& [entry, text] : values) {
    AddEntry(entry.property, entry.entry, text, texts);
  }
  return Status::OK();
}

}  // namespace

Status CheckShardId(const ShardId& shard) {
  if (IsName(shard.value())) return Status::OK();
  return InvalidError(
      "shard id '{}' has characters other than letters, digits, '_', '-' and '.'", shard);
}

Result<SourceEntry> ParseSourceId(std::string_view source) {
  const std::vector<std::string_view> parts = Split(source, ':');
  const std::optional<std::int64_t> entry = ParseNumber<std::int64_t>(parts.back());
  if (entry.has_value() && parts.size() == 3 && parts[0] == "load" && IsName(parts[1])) {
    return SourceEntry{.property = fmt::format("{}{}", kLoadPrefix, parts[1]),
                       .entry = *entry};
  }
  if (entry.has_value() && parts.size() == 4 && parts[0] == "kafka" &&
      IsClusterName(parts[1]) && IsName(parts[2])) {
    return SourceEntry{
        .property = fmt::format("{}{}.{}", kKafkaPrefix, parts[1], parts[2]),
        .entry = *entry};
  }
  return InvalidError(
      "source id '{}' is neither load:<id>:<file> nor "
      "kafka:<cluster>:<topic>:<partition>; "
      "names are of letters, digits, '_', '-' and '.' (a cluster without '.')",
      source);
}

Result<TablePositions> ReadPositions(const iceberg::TableMetadata& metadata,
                                     const WalId& wal) {
  const PropertyReader reader(metadata);
  TablePositions positions;
  FIRN_ASSIGN_OR_RETURN(const bool are_own, PositionsAreOwn(metadata));
  if (!are_own) return positions;
  FIRN_ASSIGN_OR_RETURN(const std::int64_t snapshot, reader.Number(kSnapshotProperty));
  FIRN_ASSIGN_OR_RETURN(const std::int64_t sequence, reader.Number(kSequenceProperty));
  positions.snapshot = SnapshotId(snapshot);
  positions.sequence = SnapshotSequence(sequence);
  FIRN_ASSIGN_OR_RETURN(positions.last_batch, reader.LastBatch(wal));
  if (!positions.last_batch) FIRN_RETURN_NOT_OK(CheckKnowsLastBatch(metadata, wal));
  FIRN_ASSIGN_OR_RETURN(positions.reached.shards, reader.Shards(wal));
  FIRN_ASSIGN_OR_RETURN(positions.reached.sources, reader.Sources());
  return positions;
}

Result<PropertyChanges> ChangeProperties(const iceberg::TableMetadata& metadata,
                                         const WalId& wal, const TablePositions& next) {
  FIRN_CHECK(next.snapshot.has_value() && next.last_batch.has_value());
  PropertyChanges changes;
  std::map<std::string, std::string>& updates = changes.updates;
  updates[std::string(kTableUuidProperty)] = metadata.table_uuid.value();
  updates[std::string(kSnapshotProperty)] = fmt::format("{}", *next.snapshot);
  updates[std::string(kSequenceProperty)] = fmt::format("{}", next.sequence);
  updates[Named(kCommitPrefix, wal)] = next.last_batch->value();
  for (const auto& [shard, sequence] : next.reached.shards) {
    AddEntry(Named(kWalPrefix, wal), shard, fmt::format("{}", sequence), updates);
  }
  const auto number_text = [](std::int64_t number) { return fmt::format("{}", number); };
  FIRN_RETURN_NOT_OK(AddSources(next.reached.sources, number_text, updates));

  FIRN_ASSIGN_OR_RETURN(const bool are_own, PositionsAreOwn(metadata));
  for (const auto& [property, text] : metadata.properties) {
    if (!property.starts_with(kFirnPrefix) || updates.contains(property)) continue;
    if (!are_own || IsOwned(property, wal)) changes.removals.push_back(property);
  }
  return changes;
}

Result<std::map<std::string, std::string>> SummaryEntries(const WalId& wal,
                                                          const std::vector<BatchId>& ids,
                                                          const Batch& merged) {
  std::map<std::string, std::string> entries;
  std::string& id_list = entries[Named(kCommitPrefix, wal)];
  for (const BatchId& id : ids) {
    if (!id_list.empty()) id_list += ',';
    id_list += id.value();
  }
  for (const auto& [shard, range] : merged.shards) {
    AddEntry(Named(kWalPrefix, wal), shard,
             fmt::format("{}-{}", range.after, range.through), entries);
  }
  const auto range_text = [](const OffsetRange& range) {
    return fmt::format("{}-{}", range.first, range.next);
  };
  FIRN_RETURN_NOT_OK(AddSources(merged.sources, range_text, entries));
  return entries;
}

const iceberg::Snapshot* FindBatchSnapshot(const iceberg::TableMetadata& metadata,
                                           const WalId& wal, const BatchId& batch) {
  const std::string entry = Named(kCommitPrefix, wal);
  return FindInHistoryOfMain(metadata, [&](const iceberg::Snapshot& snapshot) {
    return NamesBatch(snapshot, entry, batch);
  });
}

const iceberg::Snapshot* FindBatchSnapshot(const iceberg::TableMetadata& metadata,
                                           const WalId& wal, const Batch& batch) {
  const std::string entry = Named(kCommitPrefix, wal);
  const iceberg::Snapshot* met =
      FindInHistoryOfMain(metadata, [&](const iceberg::Snapshot& snapshot) {
        return NamesBatch(snapshot, entry, batch.id) ||
               (batch.parent.has_value() && NamesBatch(snapshot, entry, *batch.parent));
      });
  return met != nullptr && NamesBatch(*met, entry, batch.id) ? met : nullptr;
}

Result<MovedRanges> RangesOf(const iceberg::Snapshot& snapshot) {
  MovedRanges moved;
  for (const auto& [entry, text] : snapshot.summary) {
    const bool is_source = IsSourceProperty(entry);
    if (!is_source && !entry.starts_with(kWalPrefix)) continue;
    const std::optional<std::string> stem =
        is_source ? SourceIdStem(entry) : entry.substr(kWalPrefix.size());
    if (!stem) return MalformedSummary(snapshot, entry, text);
    for (const std::string_view part : Split(text, ',')) {
      const auto shard = ParseShardRange(part);
      const auto source = ParseRange<std::int64_t>(part);
      if (is_source && source && ParseNumber<std::int64_t>(source->name)) {
        moved.sources[fmt::format("{}:{}", *stem, source->name)] = {
            .first = source->first, .next = source->last};
      } else if (!is_source && shard) {
        moved.shards[WalId(*stem)][shard->shard] = {.after = shard->after,
                                                    .through = shard->through};
      } else {
        return MalformedSummary(snapshot, entry, text);
      }
    }
  }
  return moved;
}

Result<std::vector<wal::CommittedRange>> CommittedRanges(
    const iceberg::TableMetadata& metadata, const WalId& wal) {
  std::vector<wal::CommittedRange> ranges;
  for (const iceberg::Snapshot& snapshot : metadata.snapshots) {
    const auto entry = snapshot.summary.find(Named(kWalPrefix, wal));
    if (entry == snapshot.summary.end()) continue;
    for (const std::string_view part : Split(entry->second, ',')) {
      auto range = ParseShardRange(part);
      if (!range) {
        return MalformedSummary(snapshot, entry->first, entry->second);
      }
      range->committed = WallTime(std::chrono::milliseconds(snapshot.timestamp_ms));
      ranges.push_back(*std::move(range));
    }
  }
  return ranges;
}

}  // namespace firn::commit
