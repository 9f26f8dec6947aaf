#include "records.h"

#include <map>

namespace firn::sim {
namespace {

constexpr std::uint64_t kKeys = 40;

}  // namespace

std::vector<shift::TestRow> Records::New(std::size_t count, Runtime& runtime) {
  std::vector<shift::TestRow> rows;
  for (std::size_t i = 0; i < count; ++i) {
    rows.push_back(
        {.key = fmt::format("{:02}", runtime.Random64() % kKeys), .number = ++sent_});
  }
  return rows;
}

void Records::Acknowledge(const std::vector<shift::TestRow>& rows) {
  for (const shift::TestRow& row : rows) acknowledged_.insert(row.number);
}

std::vector<std::string> Records::ProblemsOf(
    const std::vector<shift::TestRow>& rows) const {
  std::map<std::int64_t, int> found;
  for (const shift::TestRow& row : rows) ++found[row.number];
  std::vector<std::string> problems;
  for (const auto& [number, count] : found) {
    if (number < 1 || number > sent_) {
      problems.push_back(fmt::format("record {} was never sent", number));
    }
    if (count > 1) {
      problems.push_back(fmt::format("record {} is there {} times", number, count));
    }
  }
  for (const std::int64_t number : acknowledged_) {
    if (!found.contains(number)) {
      problems.push_back(
          fmt::format("record {} was acknowledged, and is not there", number));
    }
  }
  return problems;
}

}  // namespace firn::sim
