#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/sources/reason_class.h"
#include "firn/wal/table_buffer.h"

namespace firn::sources {

/// A record that became no row, for what reason ever.
struct DeadLetter {
  /// As the source has it.
  std::string raw;
  /// Where it comes from, for people: the path of a file, and its number there.
  std::string source;
  std::int64_t position = 0;
  /// What is wrong, and where in the source.
  std::string reason;
  ReasonClass reason_class = ReasonClass::kInvalidValue;
  /// In the range of the batch.
  std::int64_t offset = 0;
  /// How `raw` is read by itself (see RecordFormatText); null if it cannot be.
  std::shared_ptr<const std::string> format;

  bool operator==(const DeadLetter&) const = default;
};

/// Records for one table.
struct SourceBatch {
  /// As the user names it, "demo.flights".
  std::string table;
  /// Its range covers the dead letters too.
  wal::Delivery delivery;
  /// Must be durable before the rows are (see DeadLetterDelivery).
  std::vector<DeadLetter> dead_letters;
};

/// Where records come from. Every way in is one, over the same buffer and flush code.
///
/// A source reads again from the `next` of the last range that was acknowledged, so that
/// nothing is lost, and numbers its offsets alike each time, so that nothing is landed
/// twice. Used by one thread; acknowledgements come from others.
class Source {
 public:
  virtual ~Source() = default;

  /// Waits for the next batch; nothing at the end of the source. Ranges of one source
  /// partition follow each other without a gap. Cancelled if `stop` fires.
  virtual Result<std::optional<SourceBatch>> Next(const StopToken& stop) = 0;
};

}  // namespace firn::sources
