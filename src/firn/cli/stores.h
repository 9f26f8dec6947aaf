#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "firn/core/runtime.h"
#include "firn/iceberg/catalog/catalog_properties.h"
#include "firn/iceberg/io/file_io.h"
#include "firn/storage/object_store.h"
#include "firn/storage/s3/s3_access.h"

namespace firn::cli {

/// Whether `folder` is a location in S3 ("s3://bucket/a") and no path of this machine.
bool IsInS3(const std::string& folder);

/// Makes a store that stands before another one, which outlives it.
using StoreWrapper =
    std::function<std::unique_ptr<storage::ObjectStore>(storage::ObjectStore&)>;

/// The object stores that a configuration reaches: the files of this machine, and the
/// buckets of one S3 account. Outlives what is made from it.
class Stores {
 public:
  /// Sends nothing. What is wrong with S3's properties is told to whoever asks for a
  /// location there: most warehouses are folders. `wrap_store` is put around each store;
  /// it may be empty.
  static Result<std::unique_ptr<Stores>> Open(
      const iceberg::CatalogProperties& properties, Runtime& runtime,
      StoreWrapper wrap_store = {});

  /// All of them, by absolute location.
  const iceberg::FileIo& file_io() const { return *file_io_; }

  enum class Missing { kMake, kFail };
  /// A store whose root is `folder`: an absolute path, or a location in S3, where nothing
  /// has to be made. Must not outlive this.
  Result<std::unique_ptr<storage::ObjectStore>> OpenFolder(const std::string& folder,
                                                           Missing missing);

 private:
  Stores(Runtime& runtime, StoreWrapper wrap_store)
      : runtime_(runtime), wrap_store_(std::move(wrap_store)) {}

  std::unique_ptr<storage::ObjectStore> Wrapped(
      std::unique_ptr<storage::ObjectStore> store);

  Runtime& runtime_;
  const StoreWrapper wrap_store_;
  /// The stores that others stand before.
  std::vector<std::unique_ptr<storage::ObjectStore>> wrapped_;
  std::unique_ptr<storage::ObjectStore> files_;
  /// Why `s3_` is null.
  Status s3_problem_;
  std::unique_ptr<storage::s3::S3Access> s3_;
  std::unique_ptr<storage::ObjectStore> buckets_;
  std::optional<iceberg::FileIo> file_io_;
};

}  // namespace firn::cli
