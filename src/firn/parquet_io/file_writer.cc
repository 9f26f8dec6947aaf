#include "firn/parquet_io/file_writer.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/compute/cast.h>
#include <arrow/io/memory.h>
#include <arrow/record_batch.h>
#include <arrow/util/compression.h>
#include <parquet/properties.h>

#include "firn/parquet_io/file_assembler.h"
#include "firn/parquet_io/object_sink.h"
#include "firn/parquet_io/parquet_errors.h"
#include "firn/parquet_io/parquet_schema.h"
#include "firn/parquet_io/required_columns.h"
#include "firn/parquet_io/row_group_encoder.h"
#include "firn/types/arrow_types.h"
#include "firn/types/memory_bytes.h"

namespace firn::parquet_io {
namespace {

/// The most rows kept as a sample of how well they compress, in memory.
constexpr std::int64_t kSampleBytes = 1 << 20;
/// A sample is measured again when it has grown by this.
constexpr std::int64_t kSampleGrowth = 4;
/// Of a smaller row group headers are a large part: it says little about the next.
constexpr std::int64_t kTellingBytes = 64 << 10;
/// An open row group is looked at after each part of its target of this size.
constexpr double kStepShare = 1.0 / 32;

arrow::Compression::type ToArrowCodec(Codec codec) {
  switch (codec) {
    case Codec::kUncompressed:
      return arrow::Compression::UNCOMPRESSED;
    case Codec::kSnappy:
      return arrow::Compression::SNAPPY;
    case Codec::kGzip:
      return arrow::Compression::GZIP;
    case Codec::kZstd:
      return arrow::Compression::ZSTD;
    case Codec::kLz4:
      return arrow::Compression::LZ4;
  }
  return arrow::Compression::UNCOMPRESSED;
}

bool HasLevels(Codec codec) { return codec == Codec::kGzip || codec == Codec::kZstd; }

Status CheckOptions(const FileWriterOptions& options) {
  if (options.row_group_bytes <= 0 || options.page_bytes <= 0 ||
      options.dictionary_bytes <= 0) {
    return InvalidError(
        "sizes of row groups ({}), pages ({}) and dictionaries ({}) must "
        "be positive",
        options.row_group_bytes, options.page_bytes, options.dictionary_bytes);
  }
  if (!HasLevels(options.codec)) return Status::OK();
  const auto type = ToArrowCodec(options.codec);
  FIRN_ASSIGN_OR_RETURN(const int least,
                        arrow::util::Codec::MinimumCompressionLevel(type));
  FIRN_ASSIGN_OR_RETURN(const int most,
                        arrow::util::Codec::MaximumCompressionLevel(type));
  if (options.compression_level >= least && options.compression_level <= most) {
    return Status::OK();
  }
  return InvalidError("compression level {} is not in [{}, {}]",
                      options.compression_level, least, most);
}

Result<std::vector<parquet::SortingColumn>> ToParquetSorting(
    const parquet::SchemaDescriptor& schema, const std::vector<SortingColumn>& columns) {
  std::vector<parquet::SortingColumn> sorting;
  for (const SortingColumn& column : columns) {
    const auto index = FindColumn(schema, column.field_id);
    if (!index) {
      return InvalidError("sorting column {} is no primitive column of the schema",
                          column.field_id);
    }
    sorting.push_back({.column_idx = *index,
                       .descending = column.descending,
                       .nulls_first = column.nulls_first});
  }
  return sorting;
}

/// The most distinct values for which Parquet's sizing, which rounds up to a power of
/// two, gives a filter of at most `bytes_max`: what it begins with, and is then folded
/// down from.
std::int64_t DistinctValuesMax(const BloomFilter& filter) {
  const double bits =
      8.0 *
      static_cast<double>(std::bit_floor(static_cast<std::uint64_t>(filter.bytes_max)));
  const double values =
      bits * -std::log1p(-std::pow(filter.false_positives, 1.0 / 8)) / 8;
  return static_cast<std::int64_t>(values);
}

Status CheckBloomFilter(const parquet::SchemaDescriptor& schema, FieldId id,
                        const BloomFilter& filter) {
  const auto column = FindColumn(schema, id);
  if (!column || schema.Column(*column)->physical_type() == parquet::Type::BOOLEAN) {
    return InvalidError(
        "a Bloom filter for column {}, which is no primitive column of the schema or a "
        "boolean one",
        id);
  }
  if (filter.bytes_max < BloomFilter::kBytesLeast ||
      filter.bytes_max > BloomFilter::kBytesMost) {
    return InvalidError("a Bloom filter of at most {} bytes is not in [{}, {}]",
                        filter.bytes_max, BloomFilter::kBytesLeast,
                        BloomFilter::kBytesMost);
  }
  if (filter.false_positives > 0 && filter.false_positives < 1) return Status::OK();
  return InvalidError("a Bloom filter's probability {} is not between 0 and 1",
                      filter.false_positives);
}

Status EnableBloomFilters(const parquet::SchemaDescriptor& schema,
                          const FileWriterOptions& options,
                          parquet::WriterProperties::Builder& builder) {
  for (const auto& [id, filter] : options.bloom_filters) {
    FIRN_RETURN_NOT_OK(CheckBloomFilter(schema, id, filter));
    builder.enable_bloom_filter(
        schema.Column(*FindColumn(schema, id))->path(),
        {.ndv = DistinctValuesMax(filter), .fpp = filter.false_positives});
  }
  return Status::OK();
}

Result<std::shared_ptr<parquet::WriterProperties>> ToProperties(
    const std::shared_ptr<parquet::schema::GroupNode>& root,
    const FileWriterOptions& options) {
  FIRN_RETURN_NOT_OK(CheckOptions(options));
  parquet::SchemaDescriptor schema;
  schema.Init(root);
  FIRN_ASSIGN_OR_RETURN(auto sorting, ToParquetSorting(schema, options.sorting_columns));
  parquet::WriterProperties::Builder builder;
  // Readers distrust statistics of a writer whose name has not this form.
  builder.created_by("firn version " FIRN_VERSION)
      ->compression(ToArrowCodec(options.codec))
      ->data_pagesize(options.page_bytes)
      ->dictionary_pagesize_limit(options.dictionary_bytes)
      ->max_row_group_length(std::numeric_limits<std::int64_t>::max())
      ->enable_page_checksum()
      ->set_sorting_columns(std::move(sorting));
  if (HasLevels(options.codec)) builder.compression_level(options.compression_level);
  FIRN_RETURN_NOT_OK(EnableBloomFilters(schema, options, builder));
  if (options.page_index) {
    builder.enable_write_page_index();
  } else {
    builder.disable_write_page_index();
  }
  return builder.build();
}

/// For each leaf column of `target` the source's column to copy; nothing if one does not
/// fit, or the footer is damaged.
std::optional<std::vector<int>> FindCopyableColumns(
    const parquet::SchemaDescriptor& target, const FileWriterOptions& options,
    const RowGroupSource& source) {
  if (source.row_group < 0 || source.row_group >= source.footer->num_row_groups()) {
    return std::nullopt;
  }
  auto columns = MatchColumns(target, *source.footer->schema());
  if (!columns) return std::nullopt;
  const Status fits = Reading(source.name, [&] {
    const auto row_group = source.footer->RowGroup(source.row_group);
    const bool all_fit = std::ranges::all_of(*columns, [&](int column) {
      const auto chunk = row_group->ColumnChunk(column);
      const FieldId id =
          source.footer->schema()->Column(column)->schema_node()->field_id();
      return IsChunkCopyable(*chunk, ToArrowCodec(options.codec)) &&
             (HasBloomFilter(*chunk) || !options.bloom_filters.contains(id));
    });
    return all_fit ? Status::OK() : InvalidError("a column chunk does not fit");
  });
  return fits.ok() ? columns : std::nullopt;
}

class AssembledFileWriter final : public FileWriter {
 public:
  /// `memory`: where the bytes end up, if not in an object.
  static Result<std::unique_ptr<FileWriter>> Make(
      const types::Schema& schema, const FileWriterOptions& options,
      std::shared_ptr<arrow::io::OutputStream> sink,
      std::shared_ptr<arrow::io::BufferOutputStream> memory) {
    auto writer = std::make_unique<AssembledFileWriter>(schema, options);
    FIRN_ASSIGN_OR_RETURN(writer->root_, ToParquetSchema(schema));
    FIRN_ASSIGN_OR_RETURN(writer->properties_, ToProperties(writer->root_, options));
    FIRN_ASSIGN_OR_RETURN(
        writer->assembler_,
        FileAssembler::Make(writer->root_, writer->properties_, std::move(sink)));
    writer->memory_ = std::move(memory);
    return writer;
  }

  AssembledFileWriter(const types::Schema& schema, const FileWriterOptions& options)
      : schema_(schema), options_(options), arrow_schema_(types::ToArrowSchema(schema)) {}

  Status Write(const arrow::RecordBatch& batch) override {
    FIRN_ASSIGN_OR_RETURN(const auto rows, Conform(batch));
    if (rows->num_rows() == 0) return Status::OK();
    AddMetrics(CollectMetrics(schema_, options_.metrics, *rows), rows->num_rows());
    if (row_bytes_ == 0) {
      FIRN_ASSIGN_OR_RETURN(const std::int64_t bytes, types::MemoryBytes(*rows));
      row_bytes_ = static_cast<double>(bytes) / static_cast<double>(rows->num_rows());
    }
    for (std::int64_t row = 0; row < rows->num_rows();) {
      const auto step = rows->Slice(row, StepRows());
      FIRN_RETURN_NOT_OK(WriteStep(step));
      row += step->num_rows();
    }
    return Status::OK();
  }

  Status EndRowGroup() override {
    if (encoder_ == nullptr) return Status::OK();
    const auto encoder = std::exchange(encoder_, nullptr);
    const std::int64_t compressed = encoder->compressed_bytes();
    const std::int64_t waiting = encoder->waiting_bytes();
    FIRN_ASSIGN_OR_RETURN(const EncodedRowGroup encoded, encoder->Finish());
    FIRN_ASSIGN_OR_RETURN(const WrittenRowGroup written,
                          assembler_->AppendEncoded(encoded));
    row_groups_.push_back(written);
    if (!IsTelling(waiting)) return Status::OK();
    LearnShare(row_groups_.back().bytes - compressed, waiting);
    has_learned_ = true;
    sample_.clear();
    return Status::OK();
  }

  Status CopyRowGroup(const RowGroupSource& source, const FileMetrics& metrics) override {
    FIRN_RETURN_NOT_OK(EndRowGroup());
    const auto columns = FindCopyableColumns(assembler_->schema(), options_, source);
    if (!columns) {
      return InvalidError(
          "{}: row group {} cannot be copied as it is: its columns, its "
          "codec or its Bloom filters are not those of the file",
          source.name, source.row_group);
    }
    FIRN_ASSIGN_OR_RETURN(const WrittenRowGroup written,
                          assembler_->Append(source, *columns));
    row_groups_.push_back(written);
    FileMetrics wanted = metrics;
    RestrictMetrics(schema_, options_.metrics, wanted);
    AddMetrics(wanted, row_groups_.back().rows);
    return Status::OK();
  }

  const std::vector<WrittenRowGroup>& row_groups() const override { return row_groups_; }

  std::int64_t bytes_estimate() override {
    // Rows that cannot be encoded fail in Write; here the estimate is only less good.
    if (encoder_ != nullptr && IsTelling(encoder_->waiting_bytes())) {
      static_cast<void>(MeasureSample());
    }
    return assembler_->bytes_written() + static_cast<std::int64_t>(OpenBytes());
  }

  Result<WrittenFile> Finish(
      std::vector<std::pair<std::string, std::string>> key_values) override {
    FIRN_RETURN_NOT_OK(EndRowGroup());
    WrittenFile file{.rows = rows_, .row_groups = row_groups_, .metrics = metrics_};
    for (int i = 0; i < assembler_->schema().num_columns(); ++i) {
      file.column_sizes[assembler_->schema().Column(i)->schema_node()->field_id()] =
          assembler_->column_bytes()[static_cast<std::size_t>(i)];
    }
    FIRN_RETURN_NOT_OK(assembler_->Finish(key_values));
    FIRN_ASSIGN_OR_RETURN(file.size_bytes, assembler_->sink()->Tell());
    if (memory_ == nullptr) return file;
    FIRN_ASSIGN_OR_RETURN(file.bytes, memory_->Finish());
    return file;
  }

 private:
  /// The same rows, in exactly the types of the schema.
  Result<std::shared_ptr<arrow::RecordBatch>> Conform(const arrow::RecordBatch& batch) {
    if (batch.num_columns() != arrow_schema_->num_fields()) {
      return InvalidError("a batch of {} columns for a file of {}", batch.num_columns(),
                          arrow_schema_->num_fields());
    }
    arrow::ArrayVector columns;
    for (int i = 0; i < batch.num_columns(); ++i) {
      FIRN_ASSIGN_OR_RETURN(auto column,
                            ConformColumn(batch.column(i), *arrow_schema_->field(i)));
      columns.push_back(std::move(column));
    }
    auto rows =
        arrow::RecordBatch::Make(arrow_schema_, batch.num_rows(), std::move(columns));
    FIRN_ASSIGN_OR_RETURN(const auto null_column, FindNullOfRequired(schema_, *rows));
    if (null_column) return InvalidError("required column '{}' has nulls", *null_column);
    return WithValuesBelowNulls(schema_, std::move(rows));
  }

  static Result<std::shared_ptr<arrow::Array>> ConformColumn(
      std::shared_ptr<arrow::Array> column, const arrow::Field& field) {
    if (column->type_id() == arrow::Type::DICTIONARY) {
      // The columns of a file may have one dictionary per batch, but a column chunk has
      // one in all, which the encoder builds.
      const auto& dictionary = static_cast<const arrow::DictionaryType&>(*column->type());
      FIRN_ASSIGN_OR_RETURN(column,
                            arrow::compute::Cast(*column, dictionary.value_type()));
    }
    if (!column->type()->Equals(*field.type())) {
      return InvalidError("column '{}' is {} in the batch, but {} in the file",
                          field.name(), column->type()->ToString(),
                          field.type()->ToString());
    }
    return column;
  }

  void AddMetrics(const FileMetrics& metrics, std::int64_t rows) {
    // An empty map would stand for no rows, and here it may mean that nothing is known.
    if (rows_ == 0) {
      metrics_ = metrics;
    } else if (metrics.empty()) {
      metrics_.clear();
    } else if (!metrics_.empty()) {
      MergeMetrics(schema_, metrics, metrics_);
    }
    rows_ += rows;
  }

  Status WriteStep(const std::shared_ptr<arrow::RecordBatch>& step) {
    if (encoder_ == nullptr) {
      FIRN_ASSIGN_OR_RETURN(
          encoder_,
          RowGroupEncoder::Make(root_, arrow_schema_, properties_, assembler_->sink()));
    }
    FIRN_RETURN_NOT_OK(encoder_->Write(*step));
    FIRN_RETURN_NOT_OK(KeepSample(step));
    // How well it compresses does not matter while it could not fill the row group
    // anyhow.
    if (2 * OpenBytes() >= static_cast<double>(options_.row_group_bytes)) {
      FIRN_RETURN_NOT_OK(MeasureSample());
    }
    const double bytes = OpenBytes();
    row_bytes_ = bytes / static_cast<double>(encoder_->rows());
    const double next_step = row_bytes_ * static_cast<double>(step->num_rows());
    // The end that comes nearest to the target.
    if (bytes + next_step / 2 < static_cast<double>(options_.row_group_bytes)) {
      return Status::OK();
    }
    return EndRowGroup();
  }

  /// Whether so much tells how well the rows compress, and whether that matters.
  bool IsTelling(std::int64_t waiting_bytes) const {
    return waiting_bytes >= std::min(kTellingBytes, options_.row_group_bytes / 4);
  }

  std::int64_t StepRows() const {
    const double target = static_cast<double>(options_.row_group_bytes) * kStepShare;
    const double rows = target / std::max(row_bytes_, 1e-3);
    return static_cast<std::int64_t>(std::clamp(rows, 1.0, 1e9));
  }

  /// Estimated compressed bytes of the open row group.
  double OpenBytes() const {
    if (encoder_ == nullptr) return 0;
    return static_cast<double>(encoder_->compressed_bytes()) +
           static_cast<double>(encoder_->waiting_bytes()) * waiting_share_;
  }

  Status KeepSample(const std::shared_ptr<arrow::RecordBatch>& step) {
    if (has_learned_ || sample_bytes_ >= kSampleBytes) return Status::OK();
    FIRN_ASSIGN_OR_RETURN(const std::int64_t bytes, types::MemoryBytes(*step));
    sample_bytes_ += bytes;
    sample_.push_back(step);
    return Status::OK();
  }

  /// Encodes the sample for its size alone, unless a whole row group has told already.
  Status MeasureSample() {
    const bool has_grown = sample_bytes_ >= kSampleGrowth * measured_bytes_;
    if (has_learned_ || sample_.empty() || !has_grown) return Status::OK();
    measured_bytes_ = sample_bytes_;
    FIRN_ASSIGN_OR_RETURN(const auto trial,
                          RowGroupEncoder::Make(root_, arrow_schema_, properties_,
                                                /*out=*/nullptr));
    for (const auto& rows : sample_) FIRN_RETURN_NOT_OK(trial->Write(*rows));
    const std::int64_t compressed = trial->compressed_bytes();
    const std::int64_t waiting = trial->waiting_bytes();
    FIRN_ASSIGN_OR_RETURN(const EncodedRowGroup encoded, trial->Finish());
    LearnShare(encoded.footer->RowGroup(0)->total_compressed_size() - compressed,
               waiting);
    return Status::OK();
  }

  void LearnShare(std::int64_t compressed, std::int64_t waiting) {
    if (waiting <= 0) return;
    const double share = static_cast<double>(compressed) / static_cast<double>(waiting);
    waiting_share_ = std::clamp(share, 0.001, 2.0);
  }

  const types::Schema schema_;
  const FileWriterOptions options_;
  const std::shared_ptr<arrow::Schema> arrow_schema_;
  std::shared_ptr<parquet::schema::GroupNode> root_;
  std::shared_ptr<parquet::WriterProperties> properties_;
  std::unique_ptr<FileAssembler> assembler_;
  std::shared_ptr<arrow::io::BufferOutputStream> memory_;  // null for an object

  std::unique_ptr<RowGroupEncoder> encoder_;  // null between row groups
  double row_bytes_ = 0;                      // of a row, compressed, as last estimated
  double waiting_share_ = 1;  // compressed for each byte that waits, as last learned
  bool has_learned_ = false;  // from a whole row group
  std::vector<std::shared_ptr<arrow::RecordBatch>> sample_;
  std::int64_t sample_bytes_ = 0;
  std::int64_t measured_bytes_ = 0;  // of the sample when it was measured last

  std::int64_t rows_ = 0;
  FileMetrics metrics_;
  std::vector<WrittenRowGroup> row_groups_;
};

}  // namespace

Result<std::unique_ptr<FileWriter>> FileWriter::Make(const types::Schema& schema,
                                                     const FileWriterOptions& options) {
  FIRN_ASSIGN_OR_RETURN(auto memory, arrow::io::BufferOutputStream::Create());
  return AssembledFileWriter::Make(schema, options, memory, memory);
}

Result<std::unique_ptr<FileWriter>> FileWriter::Make(const types::Schema& schema,
                                                     const FileWriterOptions& options,
                                                     storage::ObjectWriter& object) {
  return AssembledFileWriter::Make(schema, options, OpenSink(object), nullptr);
}

bool IsVerbatimCopyable(const types::Schema& schema, const FileWriterOptions& options,
                        const RowGroupSource& source) {
  const auto root = ToParquetSchema(schema);
  if (!root.ok()) return false;
  parquet::SchemaDescriptor target;
  target.Init(*root);
  return FindCopyableColumns(target, options, source).has_value();
}

}  // namespace firn::parquet_io
