#include "firn/planner/bucket.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>

namespace firn::planner {
namespace {

template <typename T>
void AppendRaw(T value, std::string& out) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  out.append(bytes, sizeof(T));
}

void AppendText(const std::string& text, std::string& out) {
  AppendRaw(text.size(), out);
  out += text;
}

void AppendValue(const types::Value& value, std::string& out) {
  AppendRaw(value.index(), out);
  std::visit(
      [&out](const auto& held) {
        using T = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<T, std::string>) {
          AppendText(held, out);
        } else if constexpr (std::is_floating_point_v<T>) {
          AppendRaw(std::isnan(held) ? std::nan("") : static_cast<double>(held), out);
        } else if constexpr (std::is_same_v<T, types::DecimalValue>) {
          AppendRaw(held.unscaled, out);
        } else if constexpr (!std::is_same_v<T, std::monostate>) {
          AppendRaw(held, out);
        }
      },
      value);
}

const types::Value* FindPartitionValue(const PlanInput& input, const Bucket& bucket,
                                       const std::string& field) {
  const types::PartitionSpec* spec = FindSpec(input, bucket.spec_id);
  if (spec == nullptr) return nullptr;
  const auto found = std::ranges::find(spec->fields, field, &types::PartitionField::name);
  const std::size_t place = found - spec->fields.begin();
  return place < bucket.partition.size() ? &bucket.partition[place] : nullptr;
}

bool IsEmptyText(const types::Value& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text != nullptr && text->empty();
}

/// "<field> is null" for the first field that must not be empty, and is.
std::optional<std::string> EmptyField(const PlanInput& input, const Bucket& bucket,
                                      const Limits& limits) {
  for (const std::string& field : limits.non_empty_partition_fields) {
    const types::Value* value = FindPartitionValue(input, bucket, field);
    if (value == nullptr) continue;
    if (types::IsNull(*value)) return field + " is null";
    if (IsEmptyText(*value)) return field + " is empty";
  }
  return std::nullopt;
}

/// Some bytes of a key, so that sorting seldom goes to the keys.
struct PrefixedRun {
  std::uint64_t prefix = 0;
  std::uint32_t run = 0;
};

/// Ascends with the key; a key that ends early counts as followed by zeros.
std::uint64_t PrefixAfter(std::size_t shared, std::string_view key) {
  key.remove_prefix(std::min(shared, key.size()));
  std::uint64_t prefix = 0;
  for (std::size_t i = 0; i < sizeof(prefix); ++i) {
    const unsigned char byte = i < key.size() ? static_cast<unsigned char>(key[i]) : 0;
    prefix = prefix << 8 | byte;
  }
  return prefix;
}

/// Sorts runs by eight bytes of their first keys at a time: those that tell them apart
/// first, and, where these are equal, the next ones.
class KeySorter {
 public:
  explicit KeySorter(const PlanInput& input) : input_(input), order_(input, true) {}

  void Sort(std::span<PrefixedRun> runs) const { Sort(runs, 0, 0); }

 private:
  static constexpr std::size_t kFew = 16;

  std::string_view KeyOf(const PrefixedRun& run) const {
    return input_.runs[run.run].first_key;
  }

  /// The first `alike` bytes of all keys are alike, and so are those up to `told` unless
  /// a key ends before.
  void Sort(std::span<PrefixedRun> runs, std::size_t alike, std::size_t told) const {
    if (runs.size() < kFew) return SortByOrder(runs);
    const std::size_t shared = SharedBytes(runs, alike);
    // A key that ends is not told from one that goes on with zeros.
    if (shared < told) return SortByOrder(runs);
    for (PrefixedRun& run : runs) run.prefix = PrefixAfter(shared, KeyOf(run));
    std::ranges::sort(runs, {}, &PrefixedRun::prefix);
    while (!runs.empty()) {
      const auto end = std::ranges::find_if(runs, [&](const PrefixedRun& run) {
        return run.prefix != runs.front().prefix;
      });
      const auto equal = runs.first(end - runs.begin());
      Sort(equal, shared, shared + sizeof(PrefixedRun::prefix));
      runs = runs.subspan(equal.size());
    }
  }

  /// How many bytes all keys begin with alike.
  std::size_t SharedBytes(std::span<const PrefixedRun> runs, std::size_t alike) const {
    std::string_view shared = KeyOf(runs.front());
    for (const PrefixedRun& run : runs) {
      const std::string_view key = KeyOf(run);
      const auto differs = std::ranges::mismatch(shared.substr(alike), key.substr(alike));
      shared = shared.substr(0, differs.in1 - shared.begin());
    }
    return shared.size();
  }

  void SortByOrder(std::span<PrefixedRun> runs) const {
    std::ranges::sort(runs, order_, &PrefixedRun::run);
  }

  const PlanInput& input_;
  const RunOrder order_;
};

}  // namespace

const types::PartitionSpec* FindSpec(const PlanInput& input, PartitionSpecId id) {
  const auto found = std::ranges::find(input.specs, id, &types::PartitionSpec::id);
  return found == input.specs.end() ? nullptr : &*found;
}

std::string BucketIdentity(const Bucket& bucket) {
  std::string identity;
  AppendRaw(bucket.spec_id.value(), identity);
  AppendRaw(bucket.order_id.value(), identity);
  AppendText(bucket.key_types, identity);
  for (const types::Value& value : bucket.partition) AppendValue(value, identity);
  return identity;
}

Status CheckPartitions(const PlanInput& input, const Limits& limits) {
  std::vector<std::optional<std::string>> found;
  for (const Bucket& bucket : input.buckets) {
    found.push_back(EmptyField(input, bucket, limits));
  }
  for (const Run& run : input.runs) {
    if (!found[run.bucket]) continue;
    return InvalidError("{} in {} row group {}", *found[run.bucket],
                        input.segments[run.segment], run.row_group);
  }
  return Status::OK();
}

std::vector<BucketRuns> GroupByBucket(const PlanInput& input) {
  constexpr std::size_t kNotMet = -1;
  std::vector<BucketRuns> groups;
  std::unordered_map<std::string, std::size_t> group_by_identity;
  std::vector<std::size_t> group_by_bucket(input.buckets.size(), kNotMet);
  for (std::uint32_t i = 0; i < input.runs.size(); ++i) {
    const std::uint32_t bucket = input.runs[i].bucket;
    if (group_by_bucket[bucket] == kNotMet) {
      const auto [group, is_new] = group_by_identity.try_emplace(
          BucketIdentity(input.buckets[bucket]), groups.size());
      if (is_new) {
        const bool sorted = !input.buckets[bucket].key_types.empty();
        groups.push_back({.bucket = bucket, .sorted = sorted});
      }
      group_by_bucket[bucket] = group->second;
    }
    groups[group_by_bucket[bucket]].runs.push_back(i);
  }
  return groups;
}

bool RunOrder::operator()(std::uint32_t a, std::uint32_t b) const {
  const Run& left = input_.runs[a];
  const Run& right = input_.runs[b];
  if (sorted_) {
    const int by_key = left.first_key.compare(right.first_key);
    if (by_key != 0) return by_key < 0;
  }
  if (left.segment != right.segment) {
    const int by_segment =
        input_.segments[left.segment].compare(input_.segments[right.segment]);
    if (by_segment != 0) return by_segment < 0;
  }
  // The place in the input decides between runs of one name: plans must be repeatable.
  return std::tie(left.row_group, left.run_in_row_group, a) <
         std::tie(right.row_group, right.run_in_row_group, b);
}

void SortRuns(const PlanInput& input, BucketRuns& bucket) {
  if (!bucket.sorted) {
    std::ranges::sort(bucket.runs, RunOrder(input, false));
    return;
  }
  std::vector<PrefixedRun> runs;
  runs.reserve(bucket.runs.size());
  for (const std::uint32_t run : bucket.runs) runs.push_back({.run = run});
  KeySorter(input).Sort(runs);
  std::ranges::transform(runs, bucket.runs.begin(), &PrefixedRun::run);
}

}  // namespace firn::planner
