#pragma once

#include <optional>
#include <string>

#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/wal/table_buffer.h"

namespace firn::sources {

/// Records for one table.
struct SourceBatch {
  /// As the user names it, "demo.flights".
  std::string table;
  wal::Delivery delivery;
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
