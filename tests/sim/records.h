#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "firn/core/runtime.h"
#include "firn/shift/test_rows.h"
#include "firn/wal/segment.h"

namespace firn::sim {

/// Records that can be read again: partition 0, 1, ... of one topic, of so many records.
inline constexpr int kSourcePartitions = 2;
inline constexpr std::int64_t kSourceRecords = 24;

std::string SourceId(int partition);

/// What clients sent, and what they were told. A record is known by its number.
class Records {
 public:
  /// Records that nobody sent before. Few keys, so that segments overlap.
  std::vector<shift::TestRow> New(std::size_t count, Runtime& runtime);

  /// Those of a range of a source partition, whoever reads it.
  static std::vector<shift::TestRow> OfSource(int partition, std::int64_t first,
                                              std::int64_t next);

  void Acknowledge(const std::vector<shift::TestRow>& rows);

  /// An operator decided that they stay out of the table.
  void GiveUp(const std::set<std::int64_t>& numbers);

  std::size_t acknowledged() const { return acknowledged_.size(); }

  /// What is wrong with a table that holds these rows.
  std::vector<std::string> ProblemsOf(const std::vector<shift::TestRow>& rows) const;

 private:
  bool WasSent(std::int64_t number) const;

  std::int64_t sent_ = 0;
  std::set<std::int64_t> acknowledged_;
  std::set<std::int64_t> given_up_;
};

}  // namespace firn::sim
