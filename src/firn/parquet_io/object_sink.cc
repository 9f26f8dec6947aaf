#include "firn/parquet_io/object_sink.h"

#include <string>
#include <string_view>

#include <arrow/io/interfaces.h>

namespace firn::parquet_io {
namespace {

constexpr std::size_t kPieceBytes = 1 << 20;

class ObjectSink final : public arrow::io::OutputStream {
 public:
  explicit ObjectSink(storage::ObjectWriter& object) : object_(object) {}

  using OutputStream::Write;
  Status Write(const void* data, std::int64_t nbytes) override {
    const std::string_view bytes(static_cast<const char*>(data),
                                 static_cast<std::size_t>(nbytes));
    position_ += nbytes;
    if (held_.size() + bytes.size() < kPieceBytes) {
      held_.append(bytes);
      return Status::OK();
    }
    FIRN_RETURN_NOT_OK(Flush());
    return object_.Append(bytes);
  }

  Status Flush() override {
    if (held_.empty()) return Status::OK();
    FIRN_RETURN_NOT_OK(object_.Append(held_));
    held_.clear();
    return Status::OK();
  }

  Result<std::int64_t> Tell() const override { return position_; }
  Status Close() override { return Flush(); }
  bool closed() const override { return false; }

 private:
  storage::ObjectWriter& object_;
  std::string held_;
  std::int64_t position_ = 0;
};

}  // namespace

std::shared_ptr<arrow::io::OutputStream> OpenSink(storage::ObjectWriter& object) {
  return std::make_shared<ObjectSink>(object);
}

}  // namespace firn::parquet_io
