#pragma once

#include <cstdint>
#include <memory>

#include <arrow/io/type_fwd.h>

#include "firn/storage/object_store.h"

namespace firn::parquet_io {

/// A stream into an object, in pieces of about a MiB. Flush hands on what is held back;
/// the object is not finished by it. `object` must outlive the stream; not thread-safe.
std::shared_ptr<arrow::io::OutputStream> OpenSink(storage::ObjectWriter& object);

}  // namespace firn::parquet_io
