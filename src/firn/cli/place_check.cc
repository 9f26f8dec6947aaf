#include "firn/cli/place_check.h"

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include "firn/cli/units.h"
#include "firn/cli/workspace.h"
#include "firn/core/ulid.h"

namespace firn::cli {
namespace {

namespace fs = std::filesystem;

/// The folder itself, or the nearest above it that is there.
fs::path NearestExisting(fs::path path) {
  std::error_code error;
  while (!fs::exists(path, error) && path.has_relative_path()) path = path.parent_path();
  return path;
}

/// A folder that Firn writes in: there or to be made, writable, with so many bytes free.
Finding CheckFolder(const std::string& subject, const std::string& path,
                    std::int64_t bytes_needed) {
  const fs::path existing = NearestExisting(path);
  std::error_code error;
  if (!fs::is_directory(existing, error)) {
    return Wrong(subject, fmt::format("{}: {} is not a folder; name another one", path,
                                      existing.string()));
  }
  if (access(existing.c_str(), R_OK | W_OK | X_OK) != 0) {
    return Wrong(subject,
                 fmt::format("{}: {}: {}; let this user read and write there, or "
                             "name another folder",
                             path, existing.string(), std::strerror(errno)));
  }
  struct statvfs disk{};
  if (statvfs(existing.c_str(), &disk) != 0) {
    return Wrong(subject, fmt::format("{}: {}", path, std::strerror(errno)));
  }
  const auto free =
      static_cast<std::int64_t>(disk.f_bavail) * static_cast<std::int64_t>(disk.f_frsize);
  if (free < bytes_needed) {
    return Wrong(subject,
                 fmt::format("{}: only {} are free, and one file may need {}; make "
                             "room, or name a folder on another disk",
                             path, FormatBytes(free), FormatBytes(bytes_needed)));
  }
  const bool is_there = fs::exists(path, error);
  return Fine(subject, fmt::format("{}: {}{} free", path,
                                   is_there ? "" : "not there yet, will be made; ",
                                   FormatBytes(free)));
}

std::optional<std::int64_t> CgroupMemory() {
  std::ifstream file("/sys/fs/cgroup/memory.max");
  std::int64_t bytes = 0;
  return file >> bytes ? std::optional(bytes) : std::nullopt;
}

Finding CheckMemory(std::int64_t limit) {
  std::int64_t machine = sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGE_SIZE);
  if (const auto cgroup = CgroupMemory()) machine = std::min(machine, *cgroup);
  const std::string text =
      fmt::format("memory_limit {} of {}", FormatBytes(limit), FormatBytes(machine));
  if (limit <= machine) return Fine("memory", text);
  return Wrong("memory", text + " that this process may have; set memory_limit lower");
}

/// Whether both lie on one disk, so that one fills the other.
Finding CheckDisks(const std::string& warehouse, const std::string& wal) {
  std::error_code error;
  struct stat a{};
  struct stat b{};
  const bool is_known = stat(NearestExisting(warehouse).c_str(), &a) == 0 &&
                        stat(NearestExisting(wal).c_str(), &b) == 0;
  if (!is_known) return Wrong("disks", std::strerror(errno));
  return Fine("disks", a.st_dev == b.st_dev
                           ? "warehouse and WAL share one, a full WAL stops commits, too"
                           : "warehouse and WAL have one each");
}

/// Lists what is not there, since a folder may be empty and another large; then puts an
/// object there, and deletes it.
Status TryBucket(const std::string& folder, const iceberg::FileIo& io, Runtime& runtime) {
  FIRN_ASSIGN_OR_RETURN(const auto object, io.Locate(folder + "/firn-check/"));
  const auto& [store, prefix] = object;
  FIRN_RETURN_NOT_OK(store->List(prefix).status());
  const std::string key = prefix + NewUlid(runtime);
  FIRN_RETURN_NOT_OK(AddContext(store->PutWhole(key, "", storage::PutMode::kIfAbsent),
                                "can be read, but not written"));
  return AddContext(store->Delete(key), "can be written, but nothing deleted");
}

Finding CheckBucket(const std::string& subject, std::string folder,
                    const iceberg::FileIo& io, Runtime& runtime) {
  while (folder.ends_with('/')) folder.pop_back();
  const Status status = TryBucket(folder, io, runtime);
  return status.ok() ? Fine(subject, folder) : Wrong(subject, ErrorText(status));
}

/// Those of warehouse and WAL that lie in S3.
Status CheckBuckets(const CommandContext& context, const std::string& wal_path,
                    std::vector<Finding>& findings) {
  FIRN_ASSIGN_OR_RETURN(const auto stores, OpenStores(context));
  const std::string warehouse = context.config.catalog.warehouse();
  const auto check = [&](const std::string& subject, const std::string& folder) {
    if (!IsInS3(folder)) return;
    findings.push_back(CheckBucket(subject, folder, stores->file_io(), context.runtime));
  };
  // What a REST catalog calls so may be no place, or one for which it vends the keys.
  const bool is_name = iceberg::CatalogTypeOf(context.config.catalog.properties) ==
                       iceberg::CatalogType::kRest;
  if (!is_name) check("warehouse", warehouse);
  check("WAL folder", wal_path);
  return Status::OK();
}

/// What the warehouse and the WAL need of this machine.
Status CheckMachine(const Config& config, const std::string& wal_path,
                    std::vector<Finding>& findings) {
  const auto folder = config.catalog.warehouse_folder();
  if (folder) {
    FIRN_ASSIGN_OR_RETURN(const std::string warehouse, AbsolutePath(*folder));
    findings.push_back(CheckFolder("warehouse", warehouse,
                                   config.shift.upper_bound_input_bytes_per_task));
    if (!IsInS3(wal_path)) findings.push_back(CheckDisks(warehouse, wal_path));
  }
  if (!IsInS3(wal_path)) {
    findings.push_back(CheckFolder("WAL folder", wal_path, config.wal.flush_bytes));
  }
  findings.push_back(CheckMemory(config.memory_limit));
  return Status::OK();
}

}  // namespace

Status CheckPlaces(const CommandContext& context, const std::string& wal_path,
                   std::vector<Finding>& findings) {
  FIRN_RETURN_NOT_OK(CheckMachine(context.config, wal_path, findings));
  return CheckBuckets(context, wal_path, findings);
}

}  // namespace firn::cli
