#pragma once

#include <string>
#include <string_view>

#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/sources/source.h"
#include "firn/types/schema.h"
#include "firn/wal/table_buffer.h"

namespace firn::sources {

/// "line 7: " or "row 7: " in front of a reason; empty if it names no place.
std::string_view PlaceOf(std::string_view reason);

/// The table that holds the dead letters of `table`: "<table>__dead_letters".
std::string DeadLetterTable(std::string_view table);

/// Its columns: raw (binary), source (string), position (long), reason (string), time
/// (timestamptz), which is when the record was last found bad, and format (string), how
/// it is read again. All but source and format are required.
types::Schema DeadLetterSchema();

/// Invalid, naming the column, unless the columns are those of DeadLetterSchema, whatever
/// their ids.
Status CheckDeadLetterSchema(const types::Schema& schema);

/// Dead letters as rows of `schema`, which is DeadLetterSchema with the table's own field
/// ids; null if there are none. Invalid if the schema is another.
Result<std::shared_ptr<arrow::RecordBatch>> DeadLetterRows(
    const std::vector<DeadLetter>& letters, const types::Schema& schema, WallTime now);

/// The dead letters of a batch as rows of `schema`, which is DeadLetterSchema with the
/// table's own field ids, over the same source range as its rows.
///
/// Once a load has one dead letter, all its later batches have to be delivered too, also
/// those without any: then only the range advances, so that ranges follow each other.
/// For every range, this delivery must be durable before the rows of the batch are: a
/// source that is read again starts behind the rows. Invalid if the schema is another.
Result<wal::Delivery> DeadLetterDelivery(const SourceBatch& batch,
                                         const types::Schema& schema, WallTime now);

}  // namespace firn::sources
