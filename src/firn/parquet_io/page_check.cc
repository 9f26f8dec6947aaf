#include "firn/parquet_io/page_check.h"

#include <cstring>
#include <map>
#include <string_view>
#include <utility>

#include <arrow/io/memory.h>
#include <parquet/column_page.h>
#include <parquet/column_reader.h>
#include <parquet/properties.h>

namespace firn::parquet_io {
namespace {

using EncodingCounts =
    std::map<std::pair<parquet::PageType::type, parquet::Encoding::type>, std::int64_t>;

EncodingCounts StatedEncodings(const parquet::ColumnChunkMetaData& chunk) {
  EncodingCounts counts;
  for (const parquet::PageEncodingStats& pages : chunk.encoding_stats()) {
    counts[{pages.page_type, pages.encoding}] += pages.count;
  }
  return counts;
}

/// How many values of the column's type, one after the other, `bytes` hold; -1 if they do
/// not end where a value does.
std::int64_t CountPlainValues(const parquet::ColumnDescriptor& column,
                              std::string_view bytes) {
  const auto size = static_cast<std::int64_t>(bytes.size());
  if (column.physical_type() != parquet::Type::BYTE_ARRAY) {
    const std::int64_t width =
        column.physical_type() == parquet::Type::FIXED_LEN_BYTE_ARRAY
            ? column.type_length()
            : parquet::GetTypeByteSize(column.physical_type());
    return width > 0 && size % width == 0 ? size / width : -1;
  }
  std::int64_t values = 0;
  while (!bytes.empty()) {
    std::uint32_t length = 0;
    if (bytes.size() < sizeof(length)) return -1;
    std::memcpy(&length, bytes.data(), sizeof(length));
    bytes.remove_prefix(sizeof(length));
    if (bytes.size() < length) return -1;
    bytes.remove_prefix(length);
    ++values;
  }
  return values;
}

class PageChecker {
 public:
  PageChecker(const parquet::ColumnChunkMetaData& chunk,
              const parquet::ColumnDescriptor& column,
              const std::shared_ptr<arrow::Buffer>& bytes)
      : chunk_(chunk), column_(column), bytes_(bytes) {
    properties_.set_page_checksum_verification(true);
  }

  Status Check() {
    if (chunk_.has_dictionary_page()) FIRN_RETURN_NOT_OK(CheckDictionary());
    const auto file = std::make_shared<arrow::io::BufferReader>(bytes_);
    // A codec of none leaves the pages as they are; the CRC is that of their stored
    // bytes.
    const auto pages = Open(file, parquet::Compression::UNCOMPRESSED);
    while (const auto page = pages->NextPage()) FIRN_RETURN_NOT_OK(Add(*page));
    FIRN_ASSIGN_OR_RETURN(const std::int64_t end, file->Tell());
    const std::int64_t header_bytes = bytes_->size() - stored_bytes_;
    const bool is_as_stated =
        values_ == chunk_.num_values() && end == bytes_->size() &&
        header_bytes + uncompressed_bytes_ == chunk_.total_uncompressed_size() &&
        encodings_ == StatedEncodings(chunk_);
    return is_as_stated ? Status::OK() : Damaged("headers contradict the footer");
  }

 private:
  std::unique_ptr<parquet::PageReader> Open(std::shared_ptr<arrow::io::BufferReader> file,
                                            parquet::Compression::type codec) {
    return parquet::PageReader::Open(std::move(file), chunk_.num_values(), codec,
                                     properties_, column_);
  }

  /// The one page that is decompressed: nothing else tells whether its header is right.
  Status CheckDictionary() {
    const auto pages =
        Open(std::make_shared<arrow::io::BufferReader>(bytes_), chunk_.compression());
    const auto page = pages->NextPage();
    if (page == nullptr || page->type() != parquet::PageType::DICTIONARY_PAGE) {
      return Damaged("dictionary is missing");
    }
    const auto& dictionary = static_cast<const parquet::DictionaryPage&>(*page);
    const std::string_view values(reinterpret_cast<const char*>(page->data()),
                                  static_cast<std::size_t>(page->size()));
    uncompressed_bytes_ += page->size();
    if (CountPlainValues(column_, values) == dictionary.num_values()) return Status::OK();
    return Damaged("dictionary has another size than it says");
  }

  Status Add(const parquet::Page& page) {
    stored_bytes_ += page.size();
    if (page.type() == parquet::PageType::DICTIONARY_PAGE) {
      const auto& dictionary = static_cast<const parquet::DictionaryPage&>(page);
      ++encodings_[{page.type(), dictionary.encoding()}];
      return Status::OK();
    }
    if (page.type() != parquet::PageType::DATA_PAGE) return Damaged("kind is another");
    const auto& data = static_cast<const parquet::DataPageV1&>(page);
    const bool has_levels = data.definition_level_encoding() == parquet::Encoding::RLE &&
                            data.repetition_level_encoding() == parquet::Encoding::RLE;
    if (!has_levels) return Damaged("levels have another encoding");
    ++encodings_[{page.type(), data.encoding()}];
    values_ += data.num_values();
    uncompressed_bytes_ += data.uncompressed_size();
    return Status::OK();
  }

  Status Damaged(std::string_view how) const {
    return Error(ErrorKind::kCorruption, "is damaged: of the pages of column '{}' the {}",
                 column_.path()->ToDotString(), how);
  }

  const parquet::ColumnChunkMetaData& chunk_;
  const parquet::ColumnDescriptor& column_;
  const std::shared_ptr<arrow::Buffer>& bytes_;
  parquet::ReaderProperties properties_;
  EncodingCounts encodings_;
  std::int64_t values_ = 0;
  std::int64_t stored_bytes_ = 0;
  std::int64_t uncompressed_bytes_ = 0;
};

}  // namespace

Status CheckPages(const parquet::ColumnChunkMetaData& chunk,
                  const parquet::ColumnDescriptor& column,
                  const std::shared_ptr<arrow::Buffer>& bytes) {
  return PageChecker(chunk, column, bytes).Check();
}

}  // namespace firn::parquet_io
