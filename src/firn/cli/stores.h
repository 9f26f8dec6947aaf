#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "firn/core/runtime.h"
#include "firn/iceberg/catalog/catalog_properties.h"
#include "firn/iceberg/io/file_io.h"
#include "firn/storage/mounted_store.h"
#include "firn/storage/object_store.h"
#include "firn/storage/s3/s3_access.h"

namespace firn::cli {

/// Whether `folder` is a location in S3 ("s3://bucket/a") and no path of this machine.
bool IsInS3(const std::string& folder);

/// Makes a store that stands before another one, which outlives it.
using StoreWrapper =
    std::function<std::unique_ptr<storage::ObjectStore>(storage::ObjectStore&)>;

struct StoresOptions {
  /// Put around each store; may be empty.
  StoreWrapper wrap_store = {};
  /// Once it asks, no request to S3 is tried again.
  StopToken stop = {};
};

/// The object stores that a configuration reaches: the files of this machine, and the
/// buckets of one S3 account, and of others where a catalog says so. Outlives what is
/// made from it.
class Stores {
 public:
  /// Sends nothing. What is wrong with S3's properties is told to whoever asks for a
  /// location there: most warehouses are folders.
  static Result<std::unique_ptr<Stores>> Open(
      const iceberg::CatalogProperties& properties, Runtime& runtime,
      StoresOptions options = {});

  /// All of them, by absolute location.
  const iceberg::FileIo& file_io() const { return *file_io_; }

  /// From now on what lies below `folder`, in S3, is reached as `properties` and, if
  /// there are any, `credentials` say. Of several mounts of a folder the first stays.
  /// Thread-safe.
  Status MountFolder(const std::string& folder,
                     const iceberg::CatalogProperties& properties,
                     std::unique_ptr<storage::s3::CredentialsProvider> credentials);
  bool IsMounted(const std::string& folder);

  /// All of a file that a user names: a path, or a location in S3. Errors name it.
  Result<std::string> Read(const std::string& file) const;

  enum class Missing { kMake, kFail };
  /// A store whose root is `folder`: an absolute path, or a location in S3, where nothing
  /// has to be made. Must not outlive this.
  Result<std::unique_ptr<storage::ObjectStore>> OpenFolder(const std::string& folder,
                                                           Missing missing);

 private:
  Stores(iceberg::CatalogProperties properties, Runtime& runtime, StoresOptions options)
      : properties_(std::move(properties)),
        runtime_(runtime),
        options_(std::move(options)) {}

  std::unique_ptr<storage::ObjectStore> Wrapped(
      std::unique_ptr<storage::ObjectStore> store);

  const iceberg::CatalogProperties properties_;
  Runtime& runtime_;
  const StoresOptions options_;
  /// The stores that others stand before.
  std::vector<std::unique_ptr<storage::ObjectStore>> wrapped_;
  std::unique_ptr<storage::ObjectStore> files_;
  /// Why `s3_` is null.
  Status s3_problem_;
  std::unique_ptr<storage::s3::S3Access> s3_;
  std::shared_ptr<storage::ObjectStore> all_buckets_;
  /// Behind `buckets_`; null if `s3_` is.
  storage::MountedStore* mounted_ = nullptr;
  std::unique_ptr<storage::ObjectStore> buckets_;
  std::optional<iceberg::FileIo> file_io_;
};

}  // namespace firn::cli
