#pragma once

#include <memory>
#include <string>

#include "firn/storage/s3/s3_properties.h"
#include "firn/storage/s3/s3_store.h"

namespace firn::storage::s3 {

/// One account at one S3 service: connections and credentials, which the stores made from
/// it share. Thread-safe.
class S3Access {
 public:
  struct Options {
    /// Taken instead of what properties and environment say: a catalog's for one table.
    std::unique_ptr<CredentialsProvider> credentials;
    /// S3ClientOptions::stop.
    StopToken stop;
  };

  /// Sends nothing yet. Invalid, with its name, for a property that cannot be used.
  /// `runtime` must outlive what is made.
  static Result<std::unique_ptr<S3Access>> Open(const S3Properties& properties,
                                                const Environment& environment,
                                                Runtime& runtime, Options options);

  /// A store of S3StoreOptions::root. Must not outlive this.
  Result<std::unique_ptr<S3Store>> MakeStore(std::string root);

 private:
  S3Access(Runtime& runtime, S3Settings settings)
      : runtime_(runtime), settings_(std::move(settings)) {}

  Runtime& runtime_;
  const S3Settings settings_;
  std::unique_ptr<http::HttpClient> http_;
  std::unique_ptr<CredentialsProvider> credentials_;
};

}  // namespace firn::storage::s3
