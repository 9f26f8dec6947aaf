#include "firn/parquet_io/parquet_errors.h"

#include <exception>
#include <new>

#include <parquet/exception.h>

#include "firn/core/one_line.h"

namespace firn::parquet_io {

Status ReadFailure(const Status& status, std::string_view name) {
  if (status.detail() != nullptr || status.IsOutOfMemory()) {
    return AddContext(status, name);
  }
  return Error(ErrorKind::kCorruption,
               "{}: is damaged: it cannot be read as Parquet ({})", name,
               OneLine(status.message()));
}

Status ReadException(std::string_view name) {
  try {
    throw;
  } catch (const parquet::ParquetStatusException& thrown) {
    return ReadFailure(thrown.status(), name);
  } catch (const std::bad_alloc&) {
    return ReadFailure(Status::OutOfMemory("there is not enough memory"), name);
  } catch (const std::exception& thrown) {
    return ReadFailure(Status::Invalid(thrown.what()), name);
  }
}

Status WriteException() {
  try {
    throw;
  } catch (const parquet::ParquetStatusException& thrown) {
    return thrown.status();
  } catch (const std::bad_alloc&) {
    return Status::OutOfMemory("there is not enough memory");
  } catch (const std::exception& thrown) {
    return Status::UnknownError("writing Parquet: ", thrown.what());
  }
}

}  // namespace firn::parquet_io
