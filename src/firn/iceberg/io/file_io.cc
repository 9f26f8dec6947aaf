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

/// What a caller of WriteNew is told of a store's failure.
Status WriteFailure(const Status& status, std::string_view location) {
  if (!IsError(status, ErrorKind::kOutcomeUnknown)) return AddContext(status, location);
  // Nothing refers to the file yet, so whether it is there makes no difference.
  return Error(ErrorKind::kUnavailable, "{}: {}", location, ErrorText(status));
}

class NewFile final : public storage::ObjectWriter {
 public:
  NewFile(std::string_view location, std::unique_ptr<storage::ObjectWriter> object)
      : location_(location), object_(std::move(object)) {}

  Status Append(std::string_view bytes) override {
    return WriteFailure(object_->Append(bytes), location_);
  }
  Status Finish() override { return WriteFailure(object_->Finish(), location_); }

 private:
  const std::string location_;
  const std::unique_ptr<storage::ObjectWriter> object_;
};

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
  return WriteFailure(
      object.store->PutWhole(object.key, bytes, storage::PutMode::kIfAbsent), location);
}

Result<std::unique_ptr<storage::ObjectWriter>> FileIo::OpenNew(
    std::string_view location) const {
  FIRN_ASSIGN_OR_RETURN(const Object object, Locate(location));
  auto opened = object.store->PutInPieces(object.key, storage::PutMode::kIfAbsent);
  if (!opened.ok()) return WriteFailure(opened.status(), location);
  return std::make_unique<NewFile>(location, *std::move(opened));
}

Status FileIo::Delete(std::string_view location) const {
  FIRN_ASSIGN_OR_RETURN(const Object object, Locate(location));
  return AddContext(object.store->Delete(object.key), location);
}

}  // namespace firn::iceberg
