#include "firn/sources/files/input_file.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <arrow/buffer.h>
#include <arrow/io/buffered.h>
#include <arrow/io/compressed.h>
#include <arrow/memory_pool.h>
#include <arrow/util/compression.h>

#include "firn/sources/files/file_patterns.h"

namespace firn::sources {
namespace {

using arrow::Compression;

constexpr std::int64_t kBufferBytes = 64 << 10;
constexpr std::string_view kGzipMagic = "\x1f\x8b";
constexpr std::string_view kZstdMagic = "\x28\xb5\x2f\xfd";

/// Bytes of a descriptor, which need not be a regular file. Owns it.
class DescriptorStream : public arrow::io::InputStream {
 public:
  explicit DescriptorStream(int descriptor) : descriptor_(descriptor) {}
  ~DescriptorStream() override { CloseDescriptor(); }

  Status Close() override {
    CloseDescriptor();
    return Status::OK();
  }
  bool closed() const override { return descriptor_ < 0; }
  Result<std::int64_t> Tell() const override { return position_; }

  Result<std::int64_t> Read(std::int64_t bytes, void* out) override {
    std::int64_t taken = 0;
    while (taken < bytes) {
      const ssize_t count = read(descriptor_, static_cast<char*>(out) + taken,
                                 static_cast<std::size_t>(bytes - taken));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return Status::IOError("cannot be read: ", std::strerror(errno));
      if (count == 0) break;
      taken += count;
    }
    position_ += taken;
    return taken;
  }

  Result<std::shared_ptr<arrow::Buffer>> Read(std::int64_t bytes) override {
    FIRN_ASSIGN_OR_RETURN(auto buffer, arrow::AllocateResizableBuffer(bytes));
    FIRN_ASSIGN_OR_RETURN(const std::int64_t taken, Read(bytes, buffer->mutable_data()));
    FIRN_RETURN_NOT_OK(buffer->Resize(taken));
    return buffer;
  }

 private:
  void CloseDescriptor() {
    if (descriptor_ >= 0) close(descriptor_);
    descriptor_ = -1;
  }

  int descriptor_;
  std::int64_t position_ = 0;
};

struct Opened {
  std::shared_ptr<arrow::io::InputStream> bytes;
  std::optional<std::int64_t> size;
};

Result<Opened> OpenPath(const std::string& path) {
  const bool is_standard_input = path == kStandardInput;
  const int descriptor =
      is_standard_input ? dup(STDIN_FILENO) : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0 && errno == ENOENT) {
    return MakeError(ErrorKind::kNotFound, "no such file");
  }
  if (descriptor < 0) return InvalidError("cannot be opened: {}", std::strerror(errno));
  Opened opened = {.bytes = std::make_shared<DescriptorStream>(descriptor)};
  struct stat status = {};
  if (fstat(descriptor, &status) != 0) {
    return InvalidError("cannot be read: {}", std::strerror(errno));
  }
  if (S_ISDIR(status.st_mode)) {
    return InvalidError("is a directory; name the files in it");
  }
  if (S_ISREG(status.st_mode)) opened.size = status.st_size;
  return opened;
}

Compression::type CompressionOf(std::string_view first_bytes) {
  if (first_bytes.starts_with(kGzipMagic)) return Compression::GZIP;
  if (first_bytes.starts_with(kZstdMagic)) return Compression::ZSTD;
  return Compression::UNCOMPRESSED;
}

Status CheckName(std::string_view name, Compression::type compression) {
  const bool is_gzip = compression == Compression::GZIP;
  if (name.ends_with(".gz") && !is_gzip) return InvalidError("is no gzip file");
  const bool is_zstd = compression == Compression::ZSTD;
  if (name.ends_with(".zst") && !is_zstd) return InvalidError("is no zstd file");
  return Status::OK();
}

Result<std::shared_ptr<arrow::io::BufferedInputStream>> Buffered(
    std::shared_ptr<arrow::io::InputStream> stream) {
  return arrow::io::BufferedInputStream::Create(
      kBufferBytes, arrow::default_memory_pool(), std::move(stream));
}

Result<std::shared_ptr<arrow::io::InputStream>> Decompressed(
    const std::shared_ptr<arrow::io::InputStream>& raw, Compression::type compression) {
  FIRN_ASSIGN_OR_RETURN(const auto codec, arrow::util::Codec::Create(compression));
  FIRN_ASSIGN_OR_RETURN(auto stream,
                        arrow::io::CompressedInputStream::Make(codec.get(), raw));
  return Buffered(std::move(stream));
}

}  // namespace

Result<InputFile> InputFile::Open(const std::string& path) {
  const std::string name = path == kStandardInput ? "standard input" : path;
  const auto opened = OpenPath(path);
  if (!opened.ok()) return AddContext(opened.status(), name);
  return Make(opened->bytes, name, opened->size);
}

Result<InputFile> InputFile::Make(std::shared_ptr<arrow::io::InputStream> bytes,
                                  std::string name, std::optional<std::int64_t> size) {
  InputFile file;
  file.name_ = std::move(name);
  file.size_ = size;
  FIRN_ASSIGN_OR_RETURN(const auto raw, Buffered(std::move(bytes)));
  const auto magic = raw->Peek(std::ssize(kZstdMagic));
  if (!magic.ok()) return AddContext(magic.status(), file.name_);
  const Compression::type compression = CompressionOf(*magic);
  if (!magic->empty()) {
    FIRN_RETURN_NOT_OK(AddContext(CheckName(file.name_, compression), file.name_));
  }
  file.is_compressed_ = compression != Compression::UNCOMPRESSED;
  file.raw_ = raw;
  file.text_ = raw;
  if (file.is_compressed_) {
    FIRN_ASSIGN_OR_RETURN(file.text_, Decompressed(raw, compression));
  }
  return file;
}

Result<std::string_view> InputFile::Peek(std::int64_t bytes) {
  const auto view = text_->Peek(bytes);
  if (view.ok()) return *view;
  return AddContext(view.status(), name_);
}

Status InputFile::Read(std::int64_t bytes, std::string& text) {
  const std::size_t size = text.size();
  text.resize(size + static_cast<std::size_t>(bytes));
  const Result<std::int64_t> taken = text_->Read(bytes, text.data() + size);
  text.resize(size + static_cast<std::size_t>(taken.ValueOr(0)));
  if (taken.ok()) return Status::OK();
  if (!is_compressed_) return AddContext(taken.status(), name_);
  return InvalidError("{}: the compressed file is damaged or cut off ({})", name_,
                      ErrorText(taken.status()));
}

FileProgress InputFile::progress() const {
  return {.bytes_read = raw_->Tell().ValueOr(0), .bytes_total = size_};
}

}  // namespace firn::sources
