#include "firn/shift/new_files.h"

#include <utility>

namespace firn::shift {

Status NewFiles::Finish(const std::string& location, storage::ObjectWriter& file) {
  const Status written = file.Finish();
  // Also a write that failed may have left something; a file of that name that was there
  // before is somebody else's.
  if (IsError(written, ErrorKind::kAlreadyExists)) return written;
  MutexLock lock(mutex_);
  locations_.insert(location);
  return written;
}

void NewFiles::DeleteAll() {
  std::set<std::string> locations;
  {
    MutexLock lock(mutex_);
    locations = std::exchange(locations_, {});
  }
  for (const std::string& location : locations) (void)io_.Delete(location);
}

}  // namespace firn::shift
