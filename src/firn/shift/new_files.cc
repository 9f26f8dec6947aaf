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
  if (!written.ok()) may_come_late_ = true;
  return written;
}

bool NewFiles::DeleteAll() {
  std::set<std::string> locations;
  bool are_gone = false;
  {
    MutexLock lock(mutex_);
    locations = std::exchange(locations_, {});
    are_gone = !may_come_late_;
  }
  for (const std::string& location : locations) {
    if (!io_.Delete(location).ok()) are_gone = false;
  }
  return are_gone;
}

}  // namespace firn::shift
