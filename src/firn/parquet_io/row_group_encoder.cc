#include "firn/parquet_io/row_group_encoder.h"

#include <utility>

#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>

#include "firn/parquet_io/parquet_errors.h"
#include "firn/parquet_io/row_group_sink.h"

namespace firn::parquet_io {
namespace {

/// Passes everything on to a file writer, and shows its row group: Arrow's writer hides
/// it, and with it how many bytes it has come to.
class ObservedFile final : public parquet::ParquetFileWriter::Contents {
 public:
  ObservedFile(std::unique_ptr<parquet::ParquetFileWriter> file,
               std::shared_ptr<parquet::schema::GroupNode> schema,
               std::shared_ptr<RowGroupSink> sink, parquet::RowGroupWriter** row_group)
      : Contents(std::move(schema), nullptr),
        file_(std::move(file)),
        sink_(std::move(sink)),
        row_group_(row_group) {}

  /// Called once the row group is closed: what comes now is the tail.
  void Close() override {
    sink_->BeginTail();
    file_->Close();
    file_metadata_ = file_->metadata();
  }
  parquet::RowGroupWriter* AppendRowGroup() override { return file_->AppendRowGroup(); }
  parquet::RowGroupWriter* AppendBufferedRowGroup() override {
    *row_group_ = file_->AppendBufferedRowGroup();
    return *row_group_;
  }
  std::int64_t num_rows() const override { return file_->num_rows(); }
  int num_columns() const override { return file_->num_columns(); }
  int num_row_groups() const override { return file_->num_row_groups(); }
  const std::shared_ptr<parquet::WriterProperties>& properties() const override {
    return file_->properties();
  }
  void AddKeyValueMetadata(
      const std::shared_ptr<const arrow::KeyValueMetadata>& metadata) override {
    file_->AddKeyValueMetadata(metadata);
  }

 private:
  const std::unique_ptr<parquet::ParquetFileWriter> file_;
  const std::shared_ptr<RowGroupSink> sink_;
  parquet::RowGroupWriter** const row_group_;
};

}  // namespace

Result<std::unique_ptr<RowGroupEncoder>> RowGroupEncoder::Make(
    std::shared_ptr<parquet::schema::GroupNode> schema,
    std::shared_ptr<arrow::Schema> arrow_schema,
    std::shared_ptr<parquet::WriterProperties> properties,
    std::shared_ptr<arrow::io::OutputStream> out) {
  return Writing([&]() -> Result<std::unique_ptr<RowGroupEncoder>> {
    std::unique_ptr<RowGroupEncoder> encoder(new RowGroupEncoder());
    FIRN_ASSIGN_OR_RETURN(encoder->sink_, RowGroupSink::Make(std::move(out)));
    auto file = std::make_unique<parquet::ParquetFileWriter>();
    file->Open(std::make_unique<ObservedFile>(
        parquet::ParquetFileWriter::Open(encoder->sink_, schema, properties), schema,
        encoder->sink_, &encoder->row_group_));
    FIRN_RETURN_NOT_OK(parquet::arrow::FileWriter::Make(
        arrow::default_memory_pool(), std::move(file), std::move(arrow_schema),
        parquet::default_arrow_writer_properties(), &encoder->writer_));
    FIRN_RETURN_NOT_OK(encoder->writer_->NewBufferedRowGroup());
    return encoder;
  });
}

Status RowGroupEncoder::Write(const arrow::RecordBatch& batch) {
  rows_ += batch.num_rows();
  return Writing([&] { return writer_->WriteRecordBatch(batch); });
}

std::int64_t RowGroupEncoder::compressed_bytes() const {
  return row_group_->total_compressed_bytes() +
         row_group_->total_compressed_bytes_written();
}

std::int64_t RowGroupEncoder::waiting_bytes() const {
  const auto waiting = row_group_->estimated_buffered_stats();
  return waiting.def_level_bytes + waiting.rep_level_bytes + waiting.value_bytes +
         waiting.dict_bytes;
}

Result<EncodedRowGroup> RowGroupEncoder::Finish() {
  return Writing([&]() -> Result<EncodedRowGroup> {
    FIRN_RETURN_NOT_OK(writer_->Close());
    return sink_->Finish(writer_->metadata());
  });
}

}  // namespace firn::parquet_io
