#include "firn/iceberg/io/file_io.h"

#include <utility>

#include "firn/storage/location.h"

namespace firn::iceberg {
namespace {

/// One spelling for each place.
Result<std::string> Normalize(std::string_view location) {
  FIRN_ASSIGN_OR_RETURN(const storage::Location parts, storage::ParseLocation(location));
  return fmt::format("{}://{}{}", parts.scheme, parts.authority, parts.path);
}

}  // namespace

Result<FileIo> FileIo::Make(std::vector<Mount> mounts) {
  for (Mount& mount : mounts) {
    FIRN_ASSIGN_OR_RETURN(mount.prefix, Normalize(mount.prefix));
    if (!mount.prefix.ends_with('/')) mount.prefix += '/';
  }
  return FileIo(std::move(mounts));
}

Result<FileIo::Object> FileIo::Locate(std::string_view location) const {
  FIRN_ASSIGN_OR_RETURN(const std::string normal, Normalize(location));
  const Mount* longest = nullptr;
  for (const Mount& mount : mounts_) {
    if (!normal.starts_with(mount.prefix)) continue;
    if (longest == nullptr || mount.prefix.size() > longest->prefix.size()) {
      longest = &mount;
    }
  }
  if (longest == nullptr) {
    return InvalidError("{}: no storage is configured for this location", location);
  }
  FIRN_RETURN_NOT_OK(AddContext(longest->problem, location));
  return Object{longest->store, normal.substr(longest->prefix.size())};
}

Result<std::string> FileIo::Read(std::string_view location) const {
  FIRN_ASSIGN_OR_RETURN(const Object object, Locate(location));
  Result<std::string> bytes = object.store->GetWhole(object.key);
  if (!bytes.ok()) return AddContext(bytes.status(), location);
  return bytes;
}

Status FileIo::WriteNew(std::string_view location, std::string_view bytes) const {
  FIRN_ASSIGN_OR_RETURN(const Object object, Locate(location));
  const Status written =
      object.store->PutWhole(object.key, bytes, storage::PutMode::kIfAbsent);
  if (written.ok()) return written;
  if (!IsError(written, ErrorKind::kOutcomeUnknown)) return AddContext(written, location);
  // Nothing refers to the file yet, so whether it is there makes no difference.
  return Error(ErrorKind::kUnavailable, "{}: {}", location, ErrorText(written));
}

Status FileIo::Delete(std::string_view location) const {
  FIRN_ASSIGN_OR_RETURN(const Object object, Locate(location));
  return AddContext(object.store->Delete(object.key), location);
}

}  // namespace firn::iceberg
