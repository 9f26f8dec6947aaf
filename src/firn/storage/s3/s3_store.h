#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "firn/core/runtime.h"
#include "firn/storage/object_store.h"
#include "firn/storage/s3/multipart_upload.h"
#include "firn/storage/s3/s3_client.h"

namespace firn::storage::s3 {

struct S3StoreOptions {
  /// "bucket", or "bucket/folder". Empty: all buckets, and the first part of a key is the
  /// bucket.
  std::string root;
  S3ClientOptions client;
  /// What is larger is put in parts of `part_bytes` (S3 wants 5 MiB at least, and 10,000
  /// parts at most), and so is what comes in pieces and is larger than a part.
  std::int64_t single_put_bytes_max = 64 << 20;
  std::int64_t part_bytes = 16 << 20;
};

/// Objects of a bucket, or below a folder of one. Holds no copy of what it puts.
///
/// kIfAbsent is If-None-Match; the object carries a mark, so that an attempt that was
/// carried out though its answer got lost is told from somebody else's object. What the
/// server lists but no key can name ("folder/", "a//b") is left out of List.
class S3Store : public ObjectStore {
 public:
  /// Sends nothing yet. All must outlive the store.
  static Result<std::unique_ptr<S3Store>> Make(Runtime& runtime, http::HttpClient& http,
                                               CredentialsProvider& credentials,
                                               S3StoreOptions options);

  Status PutWhole(std::string_view key, std::string_view bytes,
                  PutMode mode = PutMode::kOverwrite) override;
  /// Holds a part at most; a writer that is destroyed aborts the upload.
  Result<std::unique_ptr<ObjectWriter>> PutInPieces(
      std::string_view key, PutMode mode = PutMode::kOverwrite) override;
  Result<std::string> GetRange(std::string_view key, std::int64_t offset,
                               std::int64_t length) override;
  Result<std::string> GetWhole(std::string_view key) override;
  Result<std::vector<ObjectInfo>> List(std::string_view prefix) override;
  Status Delete(std::string_view key) override;
  std::string Location(std::string_view key) const override;

 private:
  class Writer;

  S3Store(Runtime& runtime, S3Client client, S3StoreOptions options)
      : runtime_(runtime), client_(std::move(client)), options_(std::move(options)) {}

  /// `key` below the root.
  std::string Path(std::string_view key) const;
  Status CheckKey(std::string_view key) const;
  S3Request NewRequest(std::string method, std::string_view key) const;
  Status FailureOfAnswer(const S3Request& request, const S3Answer& answer) const;
  /// Names one put, whatever becomes of its attempts.
  std::string NewMark() const;
  ObjectInParts InParts(std::string_view key, PutMode mode,
                        const std::string& mark) const;
  Result<S3Answer> PutOnce(std::string_view key, std::string_view bytes, PutMode mode,
                           const std::string& mark);
  /// What the answer to a put's last request means.
  Status OutcomeOfPut(std::string_view key, PutMode mode, const std::string& mark,
                      const S3Answer& answer);
  Status WhosePutWon(std::string_view key, const std::string& mark);
  Result<std::int64_t> SizeOf(std::string_view key);
  Status ListPageInto(std::string_view prefix, std::string& token,
                      std::vector<ObjectInfo>& listed);

  Runtime& runtime_;
  S3Client client_;
  const S3StoreOptions options_;
};

}  // namespace firn::storage::s3
