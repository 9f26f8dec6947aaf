#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "firn/core/status.h"
#include "firn/sources/files/input_file.h"

namespace firn::sources {

/// The text of a file, a block at a time, for readers that cut it into records.
///
/// A record must lie in one block: the block grows until it does, up to a limit. A byte
/// order mark at the front is left out. Invalid, from the first Fill, if there is a zero
/// byte near the front. Used by one thread.
class TextBlocks {
 public:
  /// A record of more than `record_bytes_max` bytes is an error.
  TextBlocks(InputFile file, std::int64_t record_bytes_max);

  const std::string& name() const { return file_.name(); }
  FileProgress progress() const { return file_.progress(); }

  /// What was read and not consumed. The view lives until the next Fill or Grow.
  std::string_view text() const { return std::string_view(buffer_).substr(consumed_); }
  /// True if nothing follows text().
  bool is_last() const { return is_last_; }

  /// Takes bytes from the front of text(). Views of them live as long as text()'s.
  void Consume(std::size_t bytes) { consumed_ += bytes; }

  /// Reads on, so that text() is about a block again.
  Status Fill();

  /// Reads on, because text() holds no whole record. Invalid if it is too long already.
  /// REQUIRES: !is_last().
  Status Grow();

 private:
  Status ReadUpTo(std::int64_t bytes);

  InputFile file_;
  const std::int64_t record_bytes_max_;
  std::string buffer_;
  std::size_t consumed_ = 0;
  bool is_first_ = true;
  bool is_last_ = false;
};

}  // namespace firn::sources
