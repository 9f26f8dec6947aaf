#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "firn/core/status.h"
#include "firn/sources/files/input_file.h"
#include "firn/sources/files/text_blocks.h"

namespace firn::sources {

/// A line that is not blank.
struct NdjsonLine {
  /// Counted from 0 over the lines that are not blank.
  std::int64_t record = 0;
  /// Counted from 1 over all lines.
  std::int64_t line = 0;
  /// Without the line break, nor blanks around it. Lives until the next StartBlock.
  std::string_view text;
};

/// A line without the blanks around it, a CR at its end included.
std::string_view TrimmedLine(std::string_view line);

/// Cuts NDJSON into its lines; what they hold is not looked at. Lines end in LF or CRLF.
///
/// Errors name file and line. Used by one thread.
class NdjsonReader {
 public:
  /// A longer line is an error.
  static constexpr std::int64_t kLineBytesMax = 64LL << 20;

  /// Invalid if the file is empty, or if its first line shows that it is JSON, but not
  /// one object a line.
  static Result<NdjsonReader> Make(InputFile file);

  const std::string& name() const { return blocks_.name(); }
  FileProgress progress() const { return blocks_.progress(); }
  /// The number of the line that Next gives next.
  std::int64_t next_record() const { return next_record_; }

  /// Reads on. False at the end of the file.
  Result<bool> StartBlock();
  /// The next line of the block; nothing at its end.
  std::optional<NdjsonLine> Next();

 private:
  explicit NdjsonReader(InputFile file);

  /// True if `line` is the next whole line, blank or not.
  bool TakeLine(std::string_view& line);
  Status CheckFirstLine();

  TextBlocks blocks_;
  std::int64_t next_record_ = 0;
  std::int64_t next_line_ = 1;
};

}  // namespace firn::sources
