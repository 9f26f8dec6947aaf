#include "firn/cli/stores.h"

#include <algorithm>
#include <optional>

#include "firn/cli/file_text.h"
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

/// A store, and the account that it must not outlive.
struct OwnAccess {
  std::unique_ptr<storage::s3::S3Access> access;
  std::unique_ptr<storage::ObjectStore> store;
};

}  // namespace

bool IsInS3(const std::string& folder) { return S3Root(folder).has_value(); }

Result<std::unique_ptr<Stores>> Stores::Open(const iceberg::CatalogProperties& properties,
                                             Runtime& runtime, StoresOptions options) {
  std::unique_ptr<Stores> stores(new Stores(properties, runtime, std::move(options)));
  FIRN_ASSIGN_OR_RETURN(auto files, storage::LocalStore::Make(runtime, "/"));
  stores->files_ = stores->Wrapped(std::move(files));
  std::vector<iceberg::FileIo::Mount> mounts = {
      {.prefix = "file:///", .store = stores->files_.get()}};
  auto s3 = storage::s3::S3Access::Open(
      properties, storage::s3::ProcessEnvironment(), runtime,
      {.credentials = nullptr, .stop = stores->options_.stop});
  stores->s3_problem_ = s3.status();
  if (s3.ok()) {
    stores->s3_ = *std::move(s3);
    FIRN_ASSIGN_OR_RETURN(stores->all_buckets_, stores->s3_->MakeStore(""));
    auto buckets = std::make_unique<storage::MountedStore>(runtime, stores->all_buckets_);
    stores->mounted_ = buckets.get();
    stores->buckets_ = stores->Wrapped(std::move(buckets));
  }
  for (const char* scheme : kS3Schemes) {
    mounts.push_back({.prefix = fmt::format("{}://", scheme),
                      .store = stores->buckets_.get(),
                      .problem = stores->s3_problem_});
  }
  FIRN_ASSIGN_OR_RETURN(stores->file_io_, iceberg::FileIo::Make(std::move(mounts)));
  return stores;
}

Status Stores::MountFolder(
    const std::string& folder, const iceberg::CatalogProperties& properties,
    std::unique_ptr<storage::s3::CredentialsProvider> credentials) {
  const auto root = S3Root(folder);
  if (!root) return InvalidError("{} is no folder in S3", folder);
  FIRN_RETURN_NOT_OK(s3_problem_);
  if (credentials == nullptr && properties == properties_) {
    mounted_->Mount(*root, all_buckets_);
    return Status::OK();
  }
  auto own = std::make_shared<OwnAccess>();
  FIRN_ASSIGN_OR_RETURN(
      own->access, storage::s3::S3Access::Open(
                       properties, storage::s3::ProcessEnvironment(), runtime_,
                       {.credentials = std::move(credentials), .stop = options_.stop}));
  FIRN_ASSIGN_OR_RETURN(own->store, own->access->MakeStore(""));
  storage::ObjectStore* store = own->store.get();
  mounted_->Mount(*root, std::shared_ptr<storage::ObjectStore>(std::move(own), store));
  return Status::OK();
}

bool Stores::IsMounted(const std::string& folder) {
  const auto root = S3Root(folder);
  return root && mounted_ != nullptr && mounted_->IsMounted(*root);
}

Result<std::string> Stores::Read(const std::string& file) const {
  if (!IsInS3(file)) return ReadFileText(file);
  auto bytes = file_io_->Read(file);
  if (!IsError(bytes.status(), ErrorKind::kNotFound)) return bytes;
  return Error(ErrorKind::kNotFound, "{}: no such file", file);
}

Result<std::unique_ptr<storage::ObjectStore>> Stores::OpenFolder(
    const std::string& folder, Missing missing) {
  if (const auto root = S3Root(folder)) {
    FIRN_RETURN_NOT_OK(s3_problem_);
    if (root->empty()) return InvalidError("{} names no bucket", folder);
    FIRN_ASSIGN_OR_RETURN(auto bucket, s3_->MakeStore(*root));
    return Wrapped(std::move(bucket));
  }
  const auto open =
      missing == Missing::kMake ? storage::LocalStore::Make : storage::LocalStore::At;
  FIRN_ASSIGN_OR_RETURN(auto store, open(runtime_, folder));
  return Wrapped(std::move(store));
}

std::unique_ptr<storage::ObjectStore> Stores::Wrapped(
    std::unique_ptr<storage::ObjectStore> store) {
  if (!options_.wrap_store) return store;
  wrapped_.push_back(std::move(store));
  return options_.wrap_store(*wrapped_.back());
}

}  // namespace firn::cli
