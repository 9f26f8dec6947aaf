#include "records.h"

#include <map>

namespace firn::sim {
namespace {

constexpr std::int64_t kKeys = 40;
/// Above the numbers of records without a source.
constexpr std::int64_t kFirstOfSources = 1'000'000;

std::string KeyOf(std::int64_t drawn) { return fmt::format("{:02}", drawn % kKeys); }

std::int64_t FirstOf(int partition) {
  return kFirstOfSources + partition * kSourceRecords;
}

}  // namespace

std::string SourceId(int partition) {
  return fmt::format("kafka:cluster:topic:{}", partition);
}

std::vector<shift::TestRow> Records::New(std::size_t count, Runtime& runtime) {
  std::vector<shift::TestRow> rows;
  for (std::size_t i = 0; i < count; ++i) {
    const auto drawn = static_cast<std::int64_t>(runtime.Random64() >> 1);
    rows.push_back({.key = KeyOf(drawn), .number = ++sent_});
  }
  return rows;
}

std::vector<shift::TestRow> Records::OfSource(int partition, std::int64_t first,
                                              std::int64_t next) {
  std::vector<shift::TestRow> rows;
  for (std::int64_t offset = first; offset < next; ++offset) {
    rows.push_back({.key = KeyOf(offset * 7), .number = FirstOf(partition) + offset});
  }
  return rows;
}

void Records::Acknowledge(const std::vector<shift::TestRow>& rows) {
  for (const shift::TestRow& row : rows) acknowledged_.insert(row.number);
}

void Records::GiveUp(const std::set<std::int64_t>& numbers) {
  given_up_.insert(numbers.begin(), numbers.end());
}

bool Records::WasSent(std::int64_t number) const {
  if (number < kFirstOfSources) return number >= 1 && number <= sent_;
  return number < FirstOf(kSourcePartitions);
}

std::vector<std::string> Records::ProblemsOf(
    const std::vector<shift::TestRow>& rows) const {
  std::map<std::int64_t, int> found;
  for (const shift::TestRow& row : rows) ++found[row.number];
  std::vector<std::string> problems;
  for (const auto& [number, count] : found) {
    if (!WasSent(number)) {
      problems.push_back(fmt::format("record {} was never sent", number));
    }
    if (count > 1) {
      problems.push_back(fmt::format("record {} is there {} times", number, count));
    }
  }
  for (const std::int64_t number : acknowledged_) {
    if (found.contains(number) || given_up_.contains(number)) continue;
    problems.push_back(
        fmt::format("record {} was acknowledged, and is not there", number));
  }
  return problems;
}

}  // namespace firn::sim
