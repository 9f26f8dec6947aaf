#include "firn/cli/stores.h"

#include <algorithm>
#include <optional>

#include "firn/storage/local_store.h"
#include "firn/storage/location.h"

namespace firn::cli {
namespace {

/// Hadoop's names for the same store.
constexpr const char* kS3Schemes[] = {"s3", "s3a", "s3n"};

/// "bucket/folder" of a location in S3; nothing for any other.
std::optional<std::string> S3Root(const std::string& folder) {
  const auto location = storage::ParseLocation(folder);
  if (!location.ok() ||
      std::ranges::find(kS3Schemes, location->scheme) == std::end(kS3Schemes)) {
    return std::nullopt;
  }
  std::string root = location->authority + location->path;
  while (root.ends_with('/')) root.pop_back();
  return root;
}

}  // namespace

bool IsInS3(const std::string& folder) { return S3Root(folder).has_value(); }

Result<std::unique_ptr<Stores>> Stores::Open(const iceberg::CatalogProperties& properties,
                                             Runtime& runtime) {
  std::unique_ptr<Stores> stores(new Stores(runtime));
  FIRN_ASSIGN_OR_RETURN(stores->files_, storage::LocalStore::Make(runtime, "/"));
  std::vector<iceberg::FileIo::Mount> mounts = {
      {.prefix = "file:///", .store = stores->files_.get()}};
  auto s3 =
      storage::s3::S3Access::Open(properties, storage::s3::ProcessEnvironment(), runtime);
  stores->s3_problem_ = s3.status();
  if (s3.ok()) {
    stores->s3_ = *std::move(s3);
    FIRN_ASSIGN_OR_RETURN(stores->buckets_, stores->s3_->MakeStore(""));
  }
  for (const char* scheme : kS3Schemes) {
    mounts.push_back({.prefix = fmt::format("{}://", scheme),
                      .store = stores->buckets_.get(),
                      .problem = stores->s3_problem_});
  }
  FIRN_ASSIGN_OR_RETURN(stores->file_io_, iceberg::FileIo::Make(std::move(mounts)));
  return stores;
}

Result<std::unique_ptr<storage::ObjectStore>> Stores::OpenFolder(
    const std::string& folder, Missing missing) {
  if (const auto root = S3Root(folder)) {
    FIRN_RETURN_NOT_OK(s3_problem_);
    if (root->empty()) return InvalidError("{} names no bucket", folder);
    return s3_->MakeStore(*root);
  }
  if (missing == Missing::kMake) return storage::LocalStore::Make(runtime_, folder);
  return storage::LocalStore::At(runtime_, folder);
}

}  // namespace firn::cli
