#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace firn::cli {

enum class Align { kLeft, kRight };

/// A cell is cut behind so many characters where nothing else is said: keys and bounds
/// have no end.
inline constexpr std::size_t kCellWidthMax = 60;
inline constexpr std::size_t kNoLimit = static_cast<std::size_t>(-1);

/// A table for people: a header line, then rows, columns aligned and two blanks apart.
/// Width is counted in code points. Cells go through Printable, and one that is longer
/// than its column allows ends in "…".
class TextTable {
 public:
  struct Column {
    std::string name;
    Align align = Align::kLeft;
    std::size_t width_max = kCellWidthMax;
  };

  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// REQUIRES: one cell for each column.
  void AddRow(std::vector<std::string> cells);
  std::string ToString() const;

 private:
  const std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace firn::cli
