#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "firn/core/runtime.h"
#include "firn/shift/test_rows.h"

namespace firn::sim {

/// What clients sent, and what they were told. A record is known by its number.
class Records {
 public:
  /// Records that nobody sent before. Few keys, so that segments overlap.
  std::vector<shift::TestRow> New(std::size_t count, Runtime& runtime);

  void Acknowledge(const std::vector<shift::TestRow>& rows);

  std::size_t acknowledged() const { return acknowledged_.size(); }

  /// What is wrong with a table that holds these rows.
  std::vector<std::string> ProblemsOf(const std::vector<shift::TestRow>& rows) const;

 private:
  std::int64_t sent_ = 0;
  std::set<std::int64_t> acknowledged_;
};

}  // namespace firn::sim
