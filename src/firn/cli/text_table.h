#pragma once

#include <string>
#include <vector>

namespace firn::cli {

enum class Align { kLeft, kRight };

/// A table for people: a header line, then rows, columns aligned and two blanks apart.
/// Width is counted in code points.
class TextTable {
 public:
  struct Column {
    std::string name;
    Align align = Align::kLeft;
  };

  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// REQUIRES: one cell for each column.
  void AddRow(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  std::string ToString() const;

 private:
  const std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace firn::cli
