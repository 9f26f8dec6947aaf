#include "firn/parquet_io/row_group_sink.h"

#include <utility>

#include <arrow/buffer.h>
#include <arrow/io/memory.h>

#include "firn/parquet_io/random_reads.h"

namespace firn::parquet_io {
namespace {

/// Behind "PAR1".
constexpr std::int64_t kChunksBegin = 4;
constexpr std::int64_t kTailBytes = 16 << 10;

/// The end of a file, which is all that is there of it.
class Tail final : public RandomReads {
 public:
  Tail(std::int64_t begin, std::shared_ptr<arrow::Buffer> bytes)
      : begin_(begin), bytes_(std::move(bytes)) {}

  using RandomReads::ReadAt;
  Result<std::shared_ptr<arrow::Buffer>> ReadAt(std::int64_t position,
                                                std::int64_t nbytes) override {
    return bytes_.ReadAt(position - begin_, nbytes);
  }
  Result<std::int64_t> GetSize() override {
    FIRN_ASSIGN_OR_RETURN(const std::int64_t size, bytes_.GetSize());
    return begin_ + size;
  }

 private:
  const std::int64_t begin_;
  arrow::io::BufferReader bytes_;
};

}  // namespace

Result<std::shared_ptr<RowGroupSink>> RowGroupSink::Make(
    std::shared_ptr<arrow::io::OutputStream> out) {
  FIRN_ASSIGN_OR_RETURN(auto tail, arrow::io::BufferOutputStream::Create(kTailBytes));
  return std::shared_ptr<RowGroupSink>(new RowGroupSink(std::move(out), std::move(tail)));
}

Status RowGroupSink::Write(const void* data, std::int64_t nbytes) {
  const std::int64_t begin = std::exchange(position_, position_ + nbytes);
  if (tail_begin_) return tail_->Write(data, nbytes);
  if (begin < kChunksBegin) {
    // The magic comes by itself, before anything else.
    FIRN_CHECK(position_ == kChunksBegin, "{}", position_);
    return Status::OK();
  }
  return out_ == nullptr ? Status::OK() : out_->Write(data, nbytes);
}

Result<EncodedRowGroup> RowGroupSink::Finish(Footer footer) {
  FIRN_CHECK(tail_begin_.has_value(), "the row group is open");
  FIRN_ASSIGN_OR_RETURN(auto bytes, tail_->Finish());
  return EncodedRowGroup{.footer = std::move(footer),
                         .tail = std::make_shared<Tail>(*tail_begin_, std::move(bytes)),
                         .begin = kChunksBegin,
                         .bytes = *tail_begin_ - kChunksBegin};
}

}  // namespace firn::parquet_io
