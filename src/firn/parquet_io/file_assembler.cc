#include "firn/parquet_io/file_assembler.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <arrow/util/key_value_metadata.h>
#include <parquet/file_writer.h>
#include <parquet/page_index.h>
#include <parquet/size_statistics.h>
#include <parquet/statistics.h>

#include "firn/parquet_io/fetched_ranges.h"
#include "firn/parquet_io/footer_seal.h"
#include "firn/parquet_io/page_check.h"
#include "firn/parquet_io/parquet_errors.h"

namespace firn::parquet_io {
namespace {

using arrow::io::ReadRange;
using parquet::Encoding;
using EncodingCounts = std::map<Encoding::type, std::int32_t>;

constexpr std::string_view kMagic = "PAR1";
/// Of CrcText.
constexpr std::size_t kCrcDigits = 8;

ReadRange IndexRange(const parquet::IndexLocation& location) {
  return {.offset = location.offset, .length = location.length};
}

/// Everything of the chunk that a copy moves.
void AddRanges(const parquet::ColumnChunkMetaData& chunk,
               std::vector<ReadRange>& ranges) {
  ranges.push_back(ChunkRange(chunk));
  if (const auto index = chunk.GetColumnIndexLocation()) {
    ranges.push_back(IndexRange(*index));
  }
  if (const auto index = chunk.GetOffsetIndexLocation()) {
    ranges.push_back(IndexRange(*index));
  }
  if (HasBloomFilter(chunk)) {
    ranges.push_back(
        {.offset = *chunk.bloom_filter_offset(), .length = *chunk.bloom_filter_length()});
  }
}

bool IsDictionaryEncoding(Encoding::type encoding) {
  return encoding == Encoding::RLE_DICTIONARY || encoding == Encoding::PLAIN_DICTIONARY;
}

/// The metadata of `chunk`, its pages being moved.
void FinishChunk(const parquet::ColumnChunkMetaData& chunk, std::int64_t moved_by,
                 parquet::ColumnChunkMetaDataBuilder& copy) {
  if (const auto statistics = chunk.encoded_statistics()) copy.SetStatistics(*statistics);
  if (const auto sizes = chunk.size_statistics()) copy.SetSizeStatistics(*sizes);
  if (chunk.key_value_metadata()) copy.SetKeyValueMetadata(chunk.key_value_metadata());
  EncodingCounts dictionary_pages;
  EncodingCounts data_pages;
  bool fell_back = false;
  const bool has_dictionary = chunk.has_dictionary_page();
  for (const parquet::PageEncodingStats& pages : chunk.encoding_stats()) {
    if (pages.page_type == parquet::PageType::DICTIONARY_PAGE) {
      dictionary_pages[pages.encoding] += pages.count;
      continue;
    }
    data_pages[pages.encoding] += pages.count;
    fell_back |= has_dictionary && !IsDictionaryEncoding(pages.encoding);
  }
  const std::int64_t dictionary_offset =
      has_dictionary ? chunk.dictionary_page_offset() + moved_by : -1;
  copy.Finish(chunk.num_values(), dictionary_offset, /*index_page_offset=*/-1,
              chunk.data_page_offset() + moved_by, chunk.total_compressed_size(),
              chunk.total_uncompressed_size(), has_dictionary, fell_back,
              dictionary_pages, data_pages);
}

/// Page offsets are absolute, so this index alone has to be made anew.
Result<std::shared_ptr<arrow::Buffer>> MoveOffsetIndex(const arrow::Buffer& bytes,
                                                       std::int64_t moved_by) {
  const auto index = parquet::OffsetIndex::Make(bytes.data(), bytes.size(),
                                                parquet::default_reader_properties());
  const std::vector<std::int64_t>& sizes = index->unencoded_byte_array_data_bytes();
  const auto moved = parquet::OffsetIndexBuilder::Make();
  for (std::size_t i = 0; i < index->page_locations().size(); ++i) {
    const parquet::PageLocation& page = index->page_locations()[i];
    const auto size = i < sizes.size() ? std::optional(sizes[i]) : std::nullopt;
    moved->AddPage(page.offset + moved_by, page.compressed_page_size,
                   page.first_row_index, size);
  }
  moved->Finish(0);
  FIRN_ASSIGN_OR_RETURN(auto sink, arrow::io::BufferOutputStream::Create());
  moved->WriteTo(sink.get());
  return sink->Finish();
}

/// `before` is the CRC of what precedes.
std::uint32_t Continue(std::uint32_t before, const arrow::Buffer& bytes) {
  return Crc32(before, std::string_view(bytes));
}

/// What the footer of a sealed file says the CRCs of the row group's page indexes are.
std::optional<std::string> SealedIndexes(const RowGroupSource& source) {
  const auto key_values = source.footer->key_value_metadata();
  if (key_values == nullptr) return std::nullopt;
  const auto value =
      key_values->Get(fmt::format("{}{}", kIndexCrcPrefix, source.row_group));
  return value.ok() ? std::optional(*value) : std::nullopt;
}

/// Corruption unless the chunk's page indexes are those that were sealed.
Status CheckIndexes(const parquet::ColumnChunkMetaData& chunk,
                    arrow::io::RandomAccessFile& file, std::string_view sealed) {
  std::uint32_t crc = 0;
  for (const auto& location :
       {chunk.GetColumnIndexLocation(), chunk.GetOffsetIndexLocation()}) {
    if (!location) continue;
    FIRN_ASSIGN_OR_RETURN(const auto bytes,
                          file.ReadAt(location->offset, location->length));
    crc = Continue(crc, *bytes);
  }
  if (CrcText(crc) == sealed) return Status::OK();
  return Error(ErrorKind::kCorruption,
               "is damaged: the page index of column '{}' does not have the CRC that it "
               "was written with",
               chunk.path_in_schema()->ToDotString());
}

/// The same of all chunks, which are these columns of the source.
Status CheckIndexes(
    const RowGroupSource& source, const std::vector<int>& columns,
    const std::vector<std::unique_ptr<parquet::ColumnChunkMetaData>>& chunks,
    arrow::io::RandomAccessFile& file) {
  const auto sealed = SealedIndexes(source);
  if (!sealed) return Status::OK();
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const std::size_t at = kCrcDigits * static_cast<std::size_t>(columns[i]);
    const auto digits = std::string_view(*sealed).substr(std::min(at, sealed->size()));
    FIRN_RETURN_NOT_OK(CheckIndexes(*chunks[i], file, digits.substr(0, kCrcDigits)));
  }
  return Status::OK();
}

bool IsSealed(const std::vector<std::pair<std::string, std::string>>& key_values) {
  return std::ranges::find(key_values, AskForSeal()) != key_values.end();
}

}  // namespace

bool IsChunkCopyable(const parquet::ColumnChunkMetaData& chunk,
                     parquet::Compression::type codec) {
  if (chunk.compression() != codec || chunk.encoding_stats().empty()) return false;
  // The builder states every data page as of the first version.
  for (const parquet::PageEncodingStats& pages : chunk.encoding_stats()) {
    const bool is_stateable = pages.page_type == parquet::PageType::DICTIONARY_PAGE ||
                              pages.page_type == parquet::PageType::DATA_PAGE;
    if (!is_stateable) return false;
  }
  return true;
}

bool HasBloomFilter(const parquet::ColumnChunkMetaData& chunk) {
  return chunk.bloom_filter_offset() && chunk.bloom_filter_length();
}

Result<std::unique_ptr<FileAssembler>> FileAssembler::Make(
    std::shared_ptr<parquet::schema::GroupNode> schema,
    std::shared_ptr<parquet::WriterProperties> properties,
    std::shared_ptr<arrow::io::OutputStream> sink) {
  return Writing([&]() -> Result<std::unique_ptr<FileAssembler>> {
    std::unique_ptr<FileAssembler> assembler(new FileAssembler());
    assembler->schema_.Init(std::move(schema));
    assembler->properties_ = std::move(properties);
    assembler->sink_ = std::move(sink);
    assembler->metadata_ =
        parquet::FileMetaDataBuilder::Make(&assembler->schema_, assembler->properties_);
    assembler->column_bytes_.resize(
        static_cast<std::size_t>(assembler->schema_.num_columns()));
    FIRN_RETURN_NOT_OK(assembler->Write(arrow::Buffer(kMagic)));
    return assembler;
  });
}

Status FileAssembler::Write(const arrow::Buffer& bytes) {
  bytes_written_ += bytes.size();
  write_failure_ &= sink_->Write(bytes.data(), bytes.size());
  return write_failure_;
}

Result<WrittenRowGroup> FileAssembler::Append(const RowGroupSource& source,
                                              const std::vector<int>& source_columns) {
  const auto row_group = source.footer->RowGroup(source.row_group);
  std::vector<std::unique_ptr<parquet::ColumnChunkMetaData>> chunks;
  std::vector<ReadRange> ranges;
  FIRN_RETURN_NOT_OK(Reading(source.name, [&] {
    for (const int column : source_columns) {
      chunks.push_back(row_group->ColumnChunk(column));
      AddRanges(*chunks.back(), ranges);
    }
    return Status::OK();
  }));
  auto fetched = FetchedRanges::Fetch(source.file, std::move(ranges));
  if (!fetched.ok()) return AddContext(fetched.status(), source.name);
  auto added = Reading(source.name, [&]() -> Result<WrittenRowGroup> {
    FIRN_RETURN_NOT_OK(CheckIndexes(source, source_columns, chunks, **fetched));
    return AddRowGroup(
        {.row_group = *row_group,
         .chunks = chunks,
         .file = **fetched,
         .offset = bytes_written_},
        [&](const parquet::ColumnChunkMetaData& chunk,
            std::size_t i) -> Result<std::int64_t> {
          const ReadRange range = ChunkRange(chunk);
          const std::int64_t moved_by = bytes_written_ - range.offset;
          FIRN_ASSIGN_OR_RETURN(const auto bytes,
                                (*fetched)->ReadAt(range.offset, range.length));
          const auto& column = *source.footer->schema()->Column(source_columns[i]);
          FIRN_RETURN_NOT_OK(CheckPages(chunk, column, bytes));
          FIRN_RETURN_NOT_OK(Write(*bytes));
          return moved_by;
        });
  });
  // A full disk says nothing about the source.
  if (!write_failure_.ok()) return write_failure_;
  return added;
}

Result<WrittenRowGroup> FileAssembler::AppendEncoded(const EncodedRowGroup& encoded) {
  return Writing([&] {
    const auto row_group = encoded.footer->RowGroup(0);
    std::vector<std::unique_ptr<parquet::ColumnChunkMetaData>> chunks;
    for (int i = 0; i < schema_.num_columns(); ++i) {
      chunks.push_back(row_group->ColumnChunk(i));
    }
    const std::int64_t offset = bytes_written_;
    bytes_written_ += encoded.bytes;
    return AddRowGroup(
        {.row_group = *row_group,
         .chunks = chunks,
         .file = *encoded.tail,
         .offset = offset},
        [&](const parquet::ColumnChunkMetaData&, std::size_t) -> Result<std::int64_t> {
          return offset - encoded.begin;
        });
  });
}

Result<WrittenRowGroup> FileAssembler::AddRowGroup(const Source& source,
                                                   const PlaceChunk& place) {
  auto* added = metadata_->AppendRowGroup();
  added->set_num_rows(source.row_group.num_rows());
  std::int64_t uncompressed_bytes = 0;
  for (std::size_t i = 0; i < source.chunks.size(); ++i) {
    const parquet::ColumnChunkMetaData& chunk = *source.chunks[i];
    FIRN_ASSIGN_OR_RETURN(const std::int64_t moved_by, place(chunk, i));
    FinishChunk(chunk, moved_by, *added->NextColumnChunk());
    FIRN_RETURN_NOT_OK(AddChunk(chunk, source.file, static_cast<int>(i), moved_by));
    uncompressed_bytes += chunk.total_uncompressed_size();
  }
  // The ordinal is optional, and too narrow for more row groups than these.
  const bool has_ordinal = row_groups_ <= std::numeric_limits<std::int16_t>::max();
  added->Finish(uncompressed_bytes,
                has_ordinal ? static_cast<std::int16_t>(row_groups_) : -1);
  ++row_groups_;
  return WrittenRowGroup{.offset = source.offset,
                         .rows = source.row_group.num_rows(),
                         .bytes = bytes_written_ - source.offset};
}

Status FileAssembler::AddChunk(const parquet::ColumnChunkMetaData& chunk,
                               arrow::io::RandomAccessFile& file, int column,
                               std::int64_t moved_by) {
  column_bytes_[static_cast<std::size_t>(column)] += ChunkRange(chunk).length;
  const auto path = schema_.Column(column)->path();
  if (properties_->bloom_filter_options(path)) {
    FIRN_RETURN_NOT_OK(AppendBloomFilter(chunk, file, column));
  }
  if (!properties_->page_index_enabled(path)) return Status::OK();
  return AppendIndexes(chunk, file, column, moved_by);
}

Status FileAssembler::AppendBloomFilter(const parquet::ColumnChunkMetaData& chunk,
                                        arrow::io::RandomAccessFile& file, int column) {
  if (!HasBloomFilter(chunk)) return Status::OK();
  FIRN_ASSIGN_OR_RETURN(auto bytes, file.ReadAt(*chunk.bloom_filter_offset(),
                                                *chunk.bloom_filter_length()));
  bloom_filters_.push_back({.chunk = {row_groups_, column}, .bytes = std::move(bytes)});
  return Status::OK();
}

Status FileAssembler::AppendIndexes(const parquet::ColumnChunkMetaData& chunk,
                                    arrow::io::RandomAccessFile& file, int column,
                                    std::int64_t moved_by) {
  const parquet::ColumnChunkId id{row_groups_, column};
  if (const auto location = chunk.GetColumnIndexLocation()) {
    FIRN_ASSIGN_OR_RETURN(auto bytes, file.ReadAt(location->offset, location->length));
    column_indexes_.push_back({.chunk = id, .bytes = std::move(bytes)});
  }
  if (const auto location = chunk.GetOffsetIndexLocation()) {
    FIRN_ASSIGN_OR_RETURN(const auto bytes,
                          file.ReadAt(location->offset, location->length));
    FIRN_ASSIGN_OR_RETURN(auto moved, MoveOffsetIndex(*bytes, moved_by));
    offset_indexes_.push_back({.chunk = id, .bytes = std::move(moved)});
  }
  return Status::OK();
}

Status FileAssembler::WriteIndexes(parquet::IndexKind kind,
                                   const std::vector<Index>& indexes) {
  if (indexes.empty()) return Status::OK();
  parquet::IndexLocations locations;
  for (const Index& index : indexes) {
    locations.emplace_back(
        index.chunk,
        parquet::IndexLocation{.offset = bytes_written_,
                               .length = static_cast<std::int32_t>(index.bytes->size())});
    FIRN_RETURN_NOT_OK(Write(*index.bytes));
  }
  metadata_->SetIndexLocations(kind, locations);
  return Status::OK();
}

Status FileAssembler::Finish(
    const std::vector<std::pair<std::string, std::string>>& key_values) {
  return Writing([&]() -> Status {
    FIRN_RETURN_NOT_OK(WriteIndexes(parquet::IndexKind::kBloomFilter, bloom_filters_));
    FIRN_RETURN_NOT_OK(WriteIndexes(parquet::IndexKind::kColumnIndex, column_indexes_));
    FIRN_RETURN_NOT_OK(WriteIndexes(parquet::IndexKind::kOffsetIndex, offset_indexes_));
    auto texts = std::make_shared<arrow::KeyValueMetadata>();
    for (const auto& [key, value] : key_values) texts->Append(key, value);
    if (!IsSealed(key_values)) {
      parquet::WriteFileMetaData(*metadata_->Finish(texts), sink_.get());
      return sink_->Flush();
    }
    for (auto& [key, value] : IndexCrcs()) texts->Append(key, value);
    FIRN_RETURN_NOT_OK(WriteSealed(*metadata_->Finish(texts)));
    return sink_->Flush();
  });
}

std::map<std::string, std::string> FileAssembler::IndexCrcs() const {
  std::map<std::pair<int, int>, std::uint32_t> crcs;
  for (const auto* indexes : {&column_indexes_, &offset_indexes_}) {
    for (const Index& index : *indexes) {
      std::uint32_t& crc = crcs[{index.chunk.row_group_index, index.chunk.column_index}];
      crc = Continue(crc, *index.bytes);
    }
  }
  std::map<std::string, std::string> texts;
  if (crcs.empty()) return texts;
  for (int row_group = 0; row_group < row_groups_; ++row_group) {
    std::string& digits = texts[fmt::format("{}{}", kIndexCrcPrefix, row_group)];
    for (int column = 0; column < schema_.num_columns(); ++column) {
      const auto crc = crcs.find({row_group, column});
      digits += CrcText(crc == crcs.end() ? 0 : crc->second);
    }
  }
  return texts;
}

Status FileAssembler::WriteSealed(const parquet::FileMetaData& metadata) {
  FIRN_ASSIGN_OR_RETURN(const auto buffer, arrow::io::BufferOutputStream::Create());
  parquet::WriteFileMetaData(metadata, buffer.get());
  FIRN_ASSIGN_OR_RETURN(const auto written, buffer->Finish());
  std::string tail((std::string_view(*written)));
  SealFooter(tail);
  return sink_->Write(tail);
}

}  // namespace firn::parquet_io
