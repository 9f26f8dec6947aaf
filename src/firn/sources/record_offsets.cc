#include "firn/sources/record_offsets.h"

#include <arrow/array/builder_primitive.h>

namespace firn::sources {

Result<std::shared_ptr<arrow::Int64Array>> OffsetsOf(
    const std::vector<std::int64_t>& records) {
  arrow::Int64Builder builder;
  FIRN_RETURN_NOT_OK(builder.AppendValues(records));
  std::shared_ptr<arrow::Int64Array> offsets;
  FIRN_RETURN_NOT_OK(builder.Finish(&offsets));
  return offsets;
}

}  // namespace firn::sources
