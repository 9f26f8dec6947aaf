#include "firn/planner/case_file.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include <nlohmann/json.hpp>

#include "firn/planner/bucket.h"
#include "firn/planner/json_node.h"
#include "firn/planner/key_range.h"
#include "firn/planner/value_json.h"

namespace firn::planner {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kLongMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kIndexMax = std::numeric_limits<std::uint32_t>::max();

// ---- the choices that are written as words ----

template <typename T>
struct Word {
  const char* text;
  T meaning;
};

constexpr Word<OversizedClusters> kOversizedClusters[] = {
    {"cut_at_keys", OversizedClusters::kCutAtKeys},
    {"split_row_groups", OversizedClusters::kSplitRowGroups}};
constexpr Word<order::Direction> kDirections[] = {
    {"asc", order::Direction::kAscending}, {"desc", order::Direction::kDescending}};
constexpr Word<order::NullOrder> kNullOrders[] = {
    {"first", order::NullOrder::kNullsFirst}, {"last", order::NullOrder::kNullsLast}};

template <typename T, std::size_t kCount>
Result<T> MeaningOf(const JsonNode& node, const Word<T> (&words)[kCount]) {
  FIRN_ASSIGN_OR_RETURN(const std::string text, node.Text());
  std::string allowed;
  for (const Word<T>& word : words) {
    if (text == word.text) return word.meaning;
    allowed += fmt::format("{}\"{}\"", allowed.empty() ? "" : " or ", word.text);
  }
  return node.Wrong(fmt::format("must be {}, not \"{}\"", allowed, text));
}

template <typename T, std::size_t kCount>
const char* WordFor(T meaning, const Word<T> (&words)[kCount]) {
  return std::ranges::find(words, meaning, &Word<T>::meaning)->text;
}

// ---- config ----

Status ReadBytes(const JsonNode& node, std::int64_t low, std::int64_t& bytes) {
  FIRN_ASSIGN_OR_RETURN(bytes, node.Integer(low, kLongMax));
  return Status::OK();
}

Status ReadFieldNames(const JsonNode& node, std::vector<std::string>& names) {
  FIRN_ASSIGN_OR_RETURN(const std::vector<JsonNode> elements, node.Elements());
  for (const JsonNode& element : elements) {
    FIRN_ASSIGN_OR_RETURN(std::string name, element.Text());
    names.push_back(std::move(name));
  }
  return Status::OK();
}

Status ReadSetting(const std::string& name, const JsonNode& node, Limits& limits) {
  if (name == "lower_bound_input_bytes_per_task") {
    return ReadBytes(node, 0, limits.lower_bound_input_bytes_per_task);
  }
  if (name == "upper_bound_input_bytes_per_task") {
    return ReadBytes(node, 1, limits.upper_bound_input_bytes_per_task);
  }
  if (name == "max_row_groups_per_task") {
    return ReadBytes(node, 1, limits.max_row_groups_per_task);
  }
  if (name == "oversized_clusters") {
    FIRN_ASSIGN_OR_RETURN(limits.oversized_clusters, MeaningOf(node, kOversizedClusters));
    return Status::OK();
  }
  if (name == "non_empty_partition_fields") {
    return ReadFieldNames(node, limits.non_empty_partition_fields);
  }
  return node.Wrong(
      "unknown; known are lower_bound_input_bytes_per_task, "
      "upper_bound_input_bytes_per_task, max_row_groups_per_task, oversized_clusters, "
      "non_empty_partition_fields");
}

Result<Limits> ReadConfig(const JsonNode& config) {
  Limits limits;
  FIRN_ASSIGN_OR_RETURN(const std::vector<std::string> names, config.MemberNames());
  for (const std::string& name : names) {
    FIRN_ASSIGN_OR_RETURN(const JsonNode node, config.Member(name.c_str()));
    FIRN_RETURN_NOT_OK(ReadSetting(name, node, limits));
  }
  if (limits.lower_bound_input_bytes_per_task > limits.upper_bound_input_bytes_per_task) {
    return config.Wrong(
        fmt::format("lower_bound_input_bytes_per_task is above "
                    "upper_bound_input_bytes_per_task: {} > {}",
                    limits.lower_bound_input_bytes_per_task,
                    limits.upper_bound_input_bytes_per_task));
  }
  return limits;
}

// ---- sort order and partition spec ----

Result<types::Type> ReadType(const JsonNode& node) {
  FIRN_ASSIGN_OR_RETURN(const std::string text, node.Text());
  const Result<types::Type> type = types::ParsePrimitiveType(text);
  return type.ok() ? type : node.Wrong(ErrorText(type.status()));
}

Result<order::KeyColumn> ReadKeyColumn(const JsonNode& node) {
  order::KeyColumn column;
  FIRN_ASSIGN_OR_RETURN(const JsonNode type, node.Member("type"));
  FIRN_ASSIGN_OR_RETURN(column.type, ReadType(type));
  FIRN_ASSIGN_OR_RETURN(const JsonNode direction, node.Member("direction"));
  FIRN_ASSIGN_OR_RETURN(column.direction, MeaningOf(direction, kDirections));
  FIRN_ASSIGN_OR_RETURN(const JsonNode nulls, node.Member("nulls"));
  FIRN_ASSIGN_OR_RETURN(column.null_order, MeaningOf(nulls, kNullOrders));
  return column;
}

Result<KeyLegend> ReadSortOrder(const JsonNode& sort_order) {
  std::vector<order::KeyColumn> columns;
  std::vector<std::string> names;
  FIRN_ASSIGN_OR_RETURN(const std::vector<JsonNode> elements, sort_order.Elements());
  for (const JsonNode& element : elements) {
    FIRN_ASSIGN_OR_RETURN(const JsonNode name, element.Member("column"));
    FIRN_ASSIGN_OR_RETURN(names.emplace_back(), name.Text());
    FIRN_ASSIGN_OR_RETURN(columns.emplace_back(), ReadKeyColumn(element));
  }
  order::KeyEncoder encoder(std::move(columns));
  return KeyLegend{.key_types = encoder.KeyTypesText(),
                   .columns = std::move(names),
                   .encoder = std::move(encoder)};
}

Result<types::PartitionField> ReadPartitionField(const JsonNode& node) {
  types::PartitionField field;
  FIRN_ASSIGN_OR_RETURN(const JsonNode name, node.Member("name"));
  FIRN_ASSIGN_OR_RETURN(field.name, name.Text());
  FIRN_ASSIGN_OR_RETURN(const JsonNode transform, node.Member("transform"));
  FIRN_ASSIGN_OR_RETURN(const std::string text, transform.Text());
  const Result<types::Transform> parsed = types::ParseTransform(text);
  if (!parsed.ok()) return transform.Wrong(ErrorText(parsed.status()));
  field.transform = *parsed;
  return field;
}

std::optional<types::Type> KeyColumnType(const KeyLegend& keys,
                                         const std::string& source) {
  const auto found = std::ranges::find(keys.columns, source);
  if (found == keys.columns.end()) return std::nullopt;
  return keys.encoder.columns()[found - keys.columns.begin()].type;
}

/// The type of the first value of partition field `name` that is not null.
types::Type TypeOfValues(const Json& row_groups, const std::string& name) {
  for (const Json& row_group : row_groups) {
    const Json* value = nullptr;
    if (row_group.is_object() && row_group.contains("partition")) {
      const Json& partition = row_group["partition"];
      if (partition.is_object() && partition.contains(name)) value = &partition[name];
    }
    if (value == nullptr || value->is_null()) continue;
    if (value->is_boolean()) return types::Type(types::TypeKind::kBoolean);
    if (value->is_number_integer()) return types::Type(types::TypeKind::kLong);
    if (value->is_number()) return types::Type(types::TypeKind::kDouble);
    break;
  }
  return types::Type(types::TypeKind::kString);
}

bool IsTemporal(types::TransformKind kind) {
  switch (kind) {
    case types::TransformKind::kYear:
    case types::TransformKind::kMonth:
    case types::TransformKind::kDay:
    case types::TransformKind::kHour:
      return true;
    default:
      return false;
  }
}

Status ReadPartitionSpec(const JsonNode& partition_spec, const JsonNode& row_groups,
                         CaseFile& file) {
  types::PartitionSpec spec;
  PartitionLegend legend{.spec_id = spec.id, .sources = {}, .types = {}};
  FIRN_ASSIGN_OR_RETURN(const std::vector<JsonNode> elements, partition_spec.Elements());
  for (const JsonNode& element : elements) {
    FIRN_ASSIGN_OR_RETURN(types::PartitionField field, ReadPartitionField(element));
    FIRN_ASSIGN_OR_RETURN(const JsonNode source, element.Member("source"));
    FIRN_ASSIGN_OR_RETURN(const std::string name, source.Text());
    std::optional<types::Type> type = KeyColumnType(file.legend.keys.front(), name);
    if (!type && IsTemporal(field.transform.kind)) {
      type = types::Type(types::TypeKind::kTimestamptz);
    }
    if (!type) type = TypeOfValues(row_groups.json(), field.name);
    const Result<types::Type> value_type = types::ResultType(field.transform, *type);
    if (!value_type.ok()) return element.Wrong(ErrorText(value_type.status()));
    legend.types.push_back(*value_type);
    legend.sources.push_back(name);
    spec.fields.push_back(std::move(field));
  }
  file.input.specs.push_back(std::move(spec));
  file.legend.partitions.push_back(std::move(legend));
  return Status::OK();
}

// ---- row groups ----

class RunReader {
 public:
  explicit RunReader(CaseFile& file)
      : file_(file),
        spec_(file.input.specs.front()),
        partition_(file.legend.partitions.front()),
        keys_(file.legend.keys.front()) {}

  Status Read(const JsonNode& node) {
    Run run;
    FIRN_RETURN_NOT_OK(ReadIdentity(node, run));
    FIRN_RETURN_NOT_OK(ReadCount(node, "bytes", run.bytes));
    FIRN_RETURN_NOT_OK(ReadCount(node, "rows", run.rows));
    FIRN_RETURN_NOT_OK(ReadBucket(node, run));
    FIRN_RETURN_NOT_OK(ReadRange(node, run));
    FIRN_RETURN_NOT_OK(ReadSamples(node, run));
    file_.input.runs.push_back(run);
    return Status::OK();
  }

 private:
  Status ReadIdentity(const JsonNode& node, Run& run) {
    FIRN_ASSIGN_OR_RETURN(const JsonNode segment, node.Member("segment"));
    FIRN_ASSIGN_OR_RETURN(const std::string name, segment.Text());
    const auto next = static_cast<std::uint32_t>(file_.input.segments.size());
    const auto [place, is_new] = segments_.try_emplace(name, next);
    if (is_new) file_.input.segments.push_back(name);
    run.segment = place->second;
    FIRN_ASSIGN_OR_RETURN(const JsonNode row_group, node.Member("row_group"));
    FIRN_ASSIGN_OR_RETURN(const std::int64_t index, row_group.Integer(0, kIndexMax));
    run.row_group = static_cast<std::uint32_t>(index);
    const std::uint64_t row_group_key = std::uint64_t{run.segment} << 32 | run.row_group;
    run.run_in_row_group = runs_in_row_group_[row_group_key]++;
    return Status::OK();
  }

  Status ReadCount(const JsonNode& node, const char* name, std::int64_t& count) {
    FIRN_ASSIGN_OR_RETURN(const JsonNode member, node.Member(name));
    FIRN_ASSIGN_OR_RETURN(count, member.Integer(0, kLongMax));
    return Status::OK();
  }

  Status ReadBucket(const JsonNode& node, Run& run) {
    FIRN_ASSIGN_OR_RETURN(const JsonNode partition, node.Member("partition"));
    FIRN_ASSIGN_OR_RETURN(const std::vector<std::string> names, partition.MemberNames());
    for (const std::string& name : names) {
      const bool is_known = std::ranges::any_of(
          spec_.fields, [&](const auto& field) { return field.name == name; });
      if (!is_known) {
        return InvalidError("{}.{}: no field of partition_spec has this name",
                            partition.place(), name);
      }
    }
    Json values = Json::array();
    types::PartitionTuple tuple;
    for (std::size_t i = 0; i < spec_.fields.size(); ++i) {
      FIRN_ASSIGN_OR_RETURN(const JsonNode member,
                            partition.Member(spec_.fields[i].name.c_str()));
      Result<types::Value> value = ValueFromJson(partition_.types[i], member.json());
      if (!value.ok()) return member.Wrong(ErrorText(value.status()));
      tuple.push_back(*std::move(value));
      values.push_back(member.json());
    }
    run.bucket = FindBucket(values.dump(), std::move(tuple));
    return Status::OK();
  }

  std::uint32_t FindBucket(const std::string& identity, types::PartitionTuple tuple) {
    const auto next = static_cast<std::uint32_t>(file_.input.buckets.size());
    const auto [place, is_new] = buckets_.try_emplace(identity, next);
    if (is_new) {
      file_.input.buckets.push_back(
          {.spec_id = spec_.id,
           .order_id = SortOrderId(keys_.columns.empty() ? 0 : 1),
           .key_types = keys_.key_types,
           .partition = std::move(tuple)});
    }
    return place->second;
  }

  Result<std::string_view> ReadKey(const JsonNode& node) {
    Result<std::string> key = KeyFromJson(keys_.encoder, node.json());
    if (!key.ok()) return node.Wrong(ErrorText(key.status()));
    return file_.keys.emplace_back(*std::move(key));
  }

  Status ReadRange(const JsonNode& node, Run& run) {
    FIRN_ASSIGN_OR_RETURN(const JsonNode min_key, node.Member("min_key"));
    FIRN_ASSIGN_OR_RETURN(run.first_key, ReadKey(min_key));
    FIRN_ASSIGN_OR_RETURN(const JsonNode max_key, node.Member("max_key"));
    run.last_key_unbounded = max_key.is_null();
    if (run.last_key_unbounded) return Status::OK();
    FIRN_ASSIGN_OR_RETURN(run.last_key, ReadKey(max_key));
    if (run.first_key <= run.last_key) return Status::OK();
    return max_key.Wrong(
        "stands before min_key in the sort order; min_key is the run's first key, also "
        "where the order descends");
  }

  Status ReadSamples(const JsonNode& node, Run& run) {
    const std::optional<JsonNode> samples = node.FindMember("samples");
    if (!samples) return CheckNoFractions(node);
    FIRN_ASSIGN_OR_RETURN(const std::vector<JsonNode> keys, samples->Elements());
    FIRN_ASSIGN_OR_RETURN(const std::vector<double> fractions,
                          ReadFractions(node, keys.size()));
    run.first_sample = static_cast<std::uint32_t>(file_.input.samples.size());
    run.sample_count = static_cast<std::uint32_t>(keys.size());
    std::string_view previous = run.first_key;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      FIRN_ASSIGN_OR_RETURN(const std::string_view key, ReadKey(keys[i]));
      if (key < previous || EndsBefore(RangeOf(run), key)) {
        return keys[i].Wrong(
            "samples must ascend in the sort order, from min_key to max_key");
      }
      file_.input.samples.push_back({.key = key, .fraction = fractions[i]});
      previous = key;
    }
    return Status::OK();
  }

  Status CheckNoFractions(const JsonNode& node) {
    const std::optional<JsonNode> fractions = node.FindMember("sample_fractions");
    if (!fractions) return Status::OK();
    return fractions->Wrong("there are no samples for them");
  }

  Result<std::vector<double>> ReadFractions(const JsonNode& node, std::size_t count) {
    std::vector<double> fractions;
    const std::optional<JsonNode> given = node.FindMember("sample_fractions");
    if (!given) {
      for (std::size_t i = 1; i <= count; ++i) {
        fractions.push_back(static_cast<double>(i) / static_cast<double>(count + 1));
      }
      return fractions;
    }
    FIRN_ASSIGN_OR_RETURN(const std::vector<JsonNode> elements, given->Elements());
    if (elements.size() != count) {
      return given->Wrong(
          fmt::format("{} fractions for {} samples", elements.size(), count));
    }
    for (const JsonNode& element : elements) {
      FIRN_ASSIGN_OR_RETURN(const double fraction, element.Number());
      const double low = fractions.empty() ? 0 : fractions.back();
      if (fraction < low || fraction > 1) {
        return element.Wrong("fractions must ascend from 0 to 1");
      }
      fractions.push_back(fraction);
    }
    return fractions;
  }

  CaseFile& file_;
  const types::PartitionSpec& spec_;
  const PartitionLegend& partition_;
  const KeyLegend& keys_;
  std::unordered_map<std::string, std::uint32_t> segments_;
  std::unordered_map<std::uint64_t, std::uint32_t> runs_in_row_group_;
  std::unordered_map<std::string, std::uint32_t> buckets_;
};

// ---- writing ----

Json ConfigToJson(const Limits& limits) {
  return {{"lower_bound_input_bytes_per_task", limits.lower_bound_input_bytes_per_task},
          {"upper_bound_input_bytes_per_task", limits.upper_bound_input_bytes_per_task},
          {"max_row_groups_per_task", limits.max_row_groups_per_task},
          {"oversized_clusters", WordFor(limits.oversized_clusters, kOversizedClusters)},
          {"non_empty_partition_fields", limits.non_empty_partition_fields}};
}

Json SortOrderToJson(const KeyLegend& keys) {
  Json json = Json::array();
  for (std::size_t i = 0; i < keys.columns.size(); ++i) {
    const order::KeyColumn& column = keys.encoder.columns()[i];
    json.push_back({{"column", keys.columns[i]},
                    {"type", column.type.ToString()},
                    {"direction", WordFor(column.direction, kDirections)},
                    {"nulls", WordFor(column.null_order, kNullOrders)}});
  }
  return json;
}

Json PartitionSpecToJson(const types::PartitionSpec& spec,
                         const PartitionLegend& legend) {
  Json json = Json::array();
  for (std::size_t i = 0; i < spec.fields.size(); ++i) {
    json.push_back({{"name", spec.fields[i].name},
                    {"source", legend.sources[i]},
                    {"transform", types::ToString(spec.fields[i].transform)}});
  }
  return json;
}

Json RunToJson(const PlanInput& input, const Run& run, const KeyLegend& keys,
               const types::PartitionSpec& spec, const PartitionLegend& partition) {
  const types::PartitionTuple& tuple = input.buckets[run.bucket].partition;
  Json values = Json::object();
  for (std::size_t i = 0; i < spec.fields.size(); ++i) {
    values[spec.fields[i].name] = ToJson(partition.types[i], tuple[i]);
  }
  Json json{{"segment", input.segments[run.segment]},
            {"row_group", run.row_group},
            {"bytes", run.bytes},
            {"rows", run.rows},
            {"partition", std::move(values)},
            {"min_key", ExactKeyToJson(keys.encoder, run.first_key)},
            {"max_key", nullptr}};
  if (!run.last_key_unbounded) {
    json["max_key"] = ExactKeyToJson(keys.encoder, run.last_key);
  }
  if (run.sample_count == 0) return json;
  json["samples"] = Json::array();
  json["sample_fractions"] = Json::array();
  for (std::uint32_t i = 0; i < run.sample_count; ++i) {
    const Sample& sample = input.samples[run.first_sample + i];
    json["samples"].push_back(ExactKeyToJson(keys.encoder, sample.key));
    json["sample_fractions"].push_back(sample.fraction);
  }
  return json;
}

/// A case file holds one kind of keys and one spec.
Status CheckOneKind(const PlanInput& input) {
  const Bucket& first = input.buckets.front();
  for (const Bucket& bucket : input.buckets) {
    if (bucket.spec_id != first.spec_id) {
      return InvalidError(
          "a case file holds one partition spec, but the runs have specs {} and {}",
          first.spec_id, bucket.spec_id);
    }
    if (bucket.order_id != first.order_id || bucket.key_types != first.key_types) {
      return InvalidError(
          "a case file holds one sort order, but the runs have keys of \"{}\" and \"{}\"",
          first.key_types, bucket.key_types);
    }
  }
  return Status::OK();
}

Status WriteRuns(const PlanInput& input, const Legend& legend, Json& json) {
  FIRN_RETURN_NOT_OK(CheckOneKind(input));
  const Bucket& bucket = input.buckets.front();
  const KeyLegend* keys = legend.FindKeys(bucket.key_types);
  const PartitionLegend* partition = legend.FindPartition(bucket.spec_id);
  const types::PartitionSpec* spec = FindSpec(input, bucket.spec_id);
  if (keys == nullptr || partition == nullptr || spec == nullptr) {
    return InvalidError("no legend for keys of \"{}\" and partition spec {}",
                        bucket.key_types, bucket.spec_id);
  }
  json["sort_order"] = SortOrderToJson(*keys);
  json["partition_spec"] = PartitionSpecToJson(*spec, *partition);
  for (const Run& run : input.runs) {
    json["row_groups"].push_back(RunToJson(input, run, *keys, *spec, *partition));
  }
  return Status::OK();
}

}  // namespace

Result<CaseFile> ParseCaseFile(std::string_view text) {
  FIRN_ASSIGN_OR_RETURN(const Json json, ParseJson(text));
  const JsonNode document(json, "");
  CaseFile file;
  FIRN_ASSIGN_OR_RETURN(const JsonNode config, document.Member("config"));
  FIRN_ASSIGN_OR_RETURN(file.limits, ReadConfig(config));
  FIRN_ASSIGN_OR_RETURN(const JsonNode sort_order, document.Member("sort_order"));
  FIRN_ASSIGN_OR_RETURN(KeyLegend keys, ReadSortOrder(sort_order));
  file.legend.keys.push_back(std::move(keys));
  FIRN_ASSIGN_OR_RETURN(const JsonNode spec, document.Member("partition_spec"));
  FIRN_ASSIGN_OR_RETURN(const JsonNode row_groups, document.Member("row_groups"));
  FIRN_ASSIGN_OR_RETURN(const std::vector<JsonNode> elements, row_groups.Elements());
  FIRN_RETURN_NOT_OK(ReadPartitionSpec(spec, row_groups, file));
  RunReader reader(file);
  for (const JsonNode& element : elements) FIRN_RETURN_NOT_OK(reader.Read(element));
  return file;
}

Result<std::string> WriteCaseFile(const PlanInput& input, const Limits& limits,
                                  const Legend& legend) {
  Json json{{"config", ConfigToJson(limits)},
            {"sort_order", Json::array()},
            {"partition_spec", Json::array()},
            {"row_groups", Json::array()}};
  if (!input.runs.empty()) FIRN_RETURN_NOT_OK(WriteRuns(input, legend, json));
  try {
    return json.dump(1) + "\n";
  } catch (const Json::exception&) {
    return InvalidError("a name or partition value is not UTF-8 and cannot be written");
  }
}

}  // namespace firn::planner
