#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/type_fwd.h>

#include "firn/core/status.h"
#include "firn/sources/files/record_reader.h"
#include "firn/types/schema.h"

namespace firn::sources {

/// As a dead letter keeps it: a JSON object.
std::string RecordFormatText(const RecordFormat& format);
/// The inverse. Invalid if the text is not one's.
Result<RecordFormat> ParseRecordFormat(std::string_view text);

/// What became of a record that was read without its file.
struct SingleRecord {
  /// One row, columns as in ToArrowSchema; null if the record does not fit.
  std::shared_ptr<arrow::RecordBatch> row;
  /// Why it does not.
  std::string reason;
};

/// Reads one record, as its file's reader would.
Result<SingleRecord> ReadSingleRecord(std::string_view raw, const RecordFormat& format,
                                      const types::Schema& schema);

}  // namespace firn::sources
