#include "firn/parquet_io/row_group_source.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <parquet/metadata.h>

#include "firn/parquet_io/footer_seal.h"
#include "firn/parquet_io/parquet_errors.h"

namespace firn::parquet_io {
namespace {

// Of a page and of a dictionary, not compressed: FileWriterOptions' defaults.
constexpr std::int64_t kPageBytesMost = 1 << 20;
constexpr std::int64_t kDictionaryBytesMost = 2 << 20;

constexpr std::string_view kMagic = "PAR1";
constexpr std::string_view kEncryptedMagic = "PARE";
/// What stands behind the footer: its length, then the magic.
constexpr std::int64_t kTrailerBytes = 8;
constexpr std::int64_t kSmallestFileBytes = 4 + kTrailerBytes;

Result<std::int64_t> FooterLength(std::string_view tail, std::int64_t size_bytes) {
  const std::string_view trailer = tail.substr(tail.size() - kTrailerBytes);
  if (trailer.substr(4) == kEncryptedMagic) {
    return InvalidError("is an encrypted Parquet file: Firn cannot read it");
  }
  if (trailer.substr(4) != kMagic) {
    return Error(ErrorKind::kCorruption, "is no Parquet file: it does not end in PAR1");
  }
  std::uint32_t length = 0;
  std::memcpy(&length, trailer.data(), sizeof length);
  if (length == 0 || length > size_bytes - kSmallestFileBytes) {
    return Error(ErrorKind::kCorruption,
                 "says its Parquet footer has {} bytes, but the file has {}", length,
                 size_bytes);
  }
  return length;
}

/// The footer's bytes, without its trailer.
Result<std::string> FetchFooter(storage::ObjectStore& store, const std::string& key,
                                std::int64_t size_bytes) {
  if (size_bytes < kSmallestFileBytes) {
    return Error(ErrorKind::kCorruption, "is no Parquet file: it has only {} bytes",
                 size_bytes);
  }
  const std::int64_t tail_bytes = std::min(size_bytes, kFooterReadBytes);
  FIRN_ASSIGN_OR_RETURN(std::string tail,
                        store.GetRange(key, size_bytes - tail_bytes, tail_bytes));
  FIRN_ASSIGN_OR_RETURN(const std::int64_t length, FooterLength(tail, size_bytes));
  const std::int64_t missing = length + kTrailerBytes - tail_bytes;
  if (missing > 0) {
    const std::int64_t start = size_bytes - length - kTrailerBytes;
    FIRN_ASSIGN_OR_RETURN(const std::string head, store.GetRange(key, start, missing));
    tail.insert(0, head);
  }
  return tail.substr(tail.size() - kTrailerBytes - length, length);
}

class StoredObject final : public arrow::io::RandomAccessFile {
 public:
  StoredObject(storage::ObjectStore& store, std::string key, std::int64_t size_bytes)
      : store_(store), key_(std::move(key)), size_bytes_(size_bytes) {}

  Result<std::shared_ptr<arrow::Buffer>> ReadAt(std::int64_t position,
                                                std::int64_t nbytes) override {
    if (position < 0 || nbytes < 0) {
      return InvalidError("{}: read of {} bytes at offset {}", key_, nbytes, position);
    }
    const std::int64_t rest = std::max<std::int64_t>(size_bytes_ - position, 0);
    const std::int64_t length = std::min(nbytes, rest);
    if (length == 0) return arrow::Buffer::FromString("");
    FIRN_ASSIGN_OR_RETURN(std::string bytes, store_.GetRange(key_, position, length));
    return arrow::Buffer::FromString(std::move(bytes));
  }

  Result<std::int64_t> ReadAt(std::int64_t position, std::int64_t nbytes,
                              void* out) override {
    FIRN_ASSIGN_OR_RETURN(auto bytes, ReadAt(position, nbytes));
    std::memcpy(out, bytes->data(), static_cast<std::size_t>(bytes->size()));
    return bytes->size();
  }

  Result<std::int64_t> Read(std::int64_t nbytes, void* out) override {
    FIRN_ASSIGN_OR_RETURN(const std::int64_t length, ReadAt(position_, nbytes, out));
    position_ += length;
    return length;
  }

  Result<std::shared_ptr<arrow::Buffer>> Read(std::int64_t nbytes) override {
    FIRN_ASSIGN_OR_RETURN(auto bytes, ReadAt(position_, nbytes));
    position_ += bytes->size();
    return bytes;
  }

  Status Seek(std::int64_t position) override {
    position_ = position;
    return Status::OK();
  }
  Result<std::int64_t> Tell() const override { return position_; }
  Result<std::int64_t> GetSize() override { return size_bytes_; }
  Status Close() override { return Status::OK(); }
  bool closed() const override { return false; }

 private:
  storage::ObjectStore& store_;
  const std::string key_;
  const std::int64_t size_bytes_;
  std::int64_t position_ = 0;
};

}  // namespace

Result<Footer> ReadFooter(storage::ObjectStore& store, const std::string& key,
                          std::int64_t size_bytes) {
  const std::string name = store.Location(key);
  const Result<std::string> bytes = FetchFooter(store, key, size_bytes);
  if (!bytes.ok()) return AddContext(bytes.status(), name);
  FIRN_RETURN_NOT_OK(AddContext(CheckFooterSeal(*bytes), name));
  return Reading(name, [&]() -> Result<Footer> {
    return parquet::FileMetaData::Make(bytes->data(),
                                       static_cast<std::int64_t>(bytes->size()));
  });
}

std::shared_ptr<arrow::io::RandomAccessFile> OpenObject(storage::ObjectStore& store,
                                                        std::string key,
                                                        std::int64_t size_bytes) {
  return std::make_shared<StoredObject>(store, std::move(key), size_bytes);
}

RowGroupBytes BytesOf(const Footer& footer, int row_group) {
  RowGroupBytes bytes;
  const Status read = Reading("", [&] {
    const auto metadata = footer->RowGroup(row_group);
    for (int column = 0; column < metadata->num_columns(); ++column) {
      const auto chunk = metadata->ColumnChunk(column);
      const std::int64_t compressed = chunk->total_compressed_size();
      const std::int64_t uncompressed = chunk->total_uncompressed_size();
      bytes.compressed += compressed;
      bytes.uncompressed += uncompressed;
      bytes.open += std::min(uncompressed, kPageBytesMost + kDictionaryBytesMost) +
                    std::min(compressed, kPageBytesMost + kNearReadBytes);
    }
    return Status::OK();
  });
  return read.ok() ? bytes : RowGroupBytes();
}

}  // namespace firn::parquet_io
