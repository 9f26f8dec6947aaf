#include <gmock/gmock.h>

#include <arrow/array/concatenate.h>
#include <arrow/table.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/page_index.h>
#include <parquet/size_statistics.h>
#include <parquet/statistics.h>

#include "firn/parquet_io/parquet_errors.h"
#include "firn/parquet_io/parquet_fixture.h"
#include "firn/types/arrow_types.h"

namespace firn::parquet_io {
namespace {

using testing::HasSubstr;
using types::Field;
using types::Type;
using types::TypeKind;

constexpr FieldId kHidden = 2147483100;

/// Small pages, so that there are many of them.
FileWriterOptions SmallPages() { return {.page_bytes = 500}; }

class CopyTest : public ParquetFixture {
 protected:
  /// The table's columns, with a hidden one in front and one behind.
  types::Schema WithHidden(types::Schema schema) {
    schema.fields.insert(schema.fields.begin(),
                         Required(kHidden, "_offset", Type(TypeKind::kLong)));
    schema.fields.push_back(Optional(kHidden + 1, "_source", Type(TypeKind::kInt)));
    return schema;
  }

  /// `rows` without the hidden columns.
  Batch Visible(const Batch& rows) {
    return rows->RemoveColumn(0)
        .ValueOrDie()
        ->RemoveColumn(schema_.fields.size())
        .ValueOrDie();
  }

  RowGroupSource SourceOf(const types::Schema& schema, const Batch& rows,
                          const FileWriterOptions& options = SmallPages()) {
    return Open(WriteFile(schema, {rows}, options));
  }

  FileMetrics MetricsOf(const Batch& rows) { return CollectMetrics(schema_, {}, *rows); }

  const types::Schema schema_ = EveryType();
};

Batch Concatenate(const std::vector<Batch>& batches) {
  return arrow::Table::FromRecordBatches(batches)
      .ValueOrDie()
      ->CombineChunksToBatch()
      .ValueOrDie();
}

bool SameRows(const Batch& a, const Batch& b) {
  return a->Equals(*b, /*check_metadata=*/false,
                   arrow::EqualOptions::Defaults().nans_equal(true));
}

TEST_F(CopyTest, CopiedAndEncodedRowGroupsMix) {
  const types::Schema hidden = WithHidden(schema_);
  const Batch first = RandomRows(hidden, 700, TestSeed());
  const Batch second = Visible(RandomRows(hidden, 300, TestSeed() + 1));
  const Batch third = RandomRows(hidden, 1, TestSeed() + 2);
  const auto writer = FileWriter::Make(schema_, SmallPages()).ValueOrDie();
  ASSERT_TRUE(
      writer->CopyRowGroup(SourceOf(hidden, first), MetricsOf(Visible(first))).ok());
  ASSERT_TRUE(writer->Write(*second).ok());
  ASSERT_TRUE(
      writer->CopyRowGroup(SourceOf(hidden, third), MetricsOf(Visible(third))).ok());
  const WrittenFile file = writer->Finish({}).ValueOrDie();
  const Batch all = Concatenate({Visible(first), second, Visible(third)});
  EXPECT_TRUE(SameRows(ReadFile(file, schema_), all)) << "seed " << TestSeed();
  EXPECT_EQ(file.row_groups.size(), 3U);
  EXPECT_EQ(file.rows, 1001);
  EXPECT_EQ(file.metrics, MetricsOf(all));
  EXPECT_EQ(Open(file).footer->num_columns(),
            SourceOf(schema_, second).footer->num_columns());
}

TEST_F(CopyTest, AnObjectGetsTheBytesOfTheFile) {
  const Batch rows = RandomRows(schema_, 700, TestSeed());
  const auto write = [&](FileWriter& writer) {
    EXPECT_TRUE(writer.CopyRowGroup(SourceOf(schema_, rows), MetricsOf(rows)).ok());
    EXPECT_TRUE(writer.Write(*rows).ok());
    return writer.Finish({{"k", "v"}}).ValueOrDie();
  };
  const WrittenFile file = write(*FileWriter::Make(schema_, SmallPages()).ValueOrDie());

  const auto object = store_.PutInPieces("object").ValueOrDie();
  const WrittenFile streamed =
      write(*FileWriter::Make(schema_, SmallPages(), *object).ValueOrDie());
  ASSERT_TRUE(object->Finish().ok());
  EXPECT_EQ(store_.GetWhole("object").ValueOrDie(), file.bytes->ToString());
  EXPECT_EQ(streamed.bytes, nullptr);
  EXPECT_EQ(streamed.size_bytes, file.bytes->size());
  EXPECT_EQ(streamed.metrics, file.metrics);
}

/// Takes `left` bytes, and then is full.
class FullDisk final : public storage::ObjectWriter {
 public:
  explicit FullDisk(std::int64_t left) : left_(left) {}

  Status Append(std::string_view bytes) override {
    left_ -= static_cast<std::int64_t>(bytes.size());
    return left_ >= 0 ? Status::OK() : Status::IOError("the disk is full");
  }
  Status Finish() override { return Status::OK(); }

 private:
  std::int64_t left_;
};

TEST_F(CopyTest, AFullDiskIsToldWhereverItIsMet) {
  const Batch rows = RandomRows(schema_, 700, TestSeed());
  const auto write = [&](std::int64_t space) -> Result<WrittenFile> {
    FullDisk disk(space);
    FIRN_ASSIGN_OR_RETURN(const auto writer,
                          FileWriter::Make(schema_, SmallPages(), disk));
    FIRN_RETURN_NOT_OK(writer->Write(*rows));
    return writer->Finish({});
  };
  const std::int64_t size = write(1LL << 40).ValueOrDie().size_bytes;
  for (const std::int64_t space : {std::int64_t{0}, size / 2, size - 1}) {
    EXPECT_THAT(write(space).status().message(), HasSubstr("the disk is full")) << space;
  }
  EXPECT_TRUE(write(size).ok());
}

TEST_F(CopyTest, AFullDiskDoesNotMakeTheSourceDamaged) {
  const RowGroupSource source = SourceOf(schema_, RandomRows(schema_, 700, TestSeed()));
  FullDisk disk(1000);
  const auto writer = FileWriter::Make(schema_, {}, disk).ValueOrDie();
  Status status;
  // The writer gathers some before it writes.
  while (status.ok()) status = writer->CopyRowGroup(source, {});
  EXPECT_TRUE(status.IsIOError());
  EXPECT_EQ(ErrorText(status), "the disk is full");
}

TEST_F(CopyTest, LackOfMemoryDoesNotMakeTheSourceDamaged) {
  const Status status = Reading("a", [&]() -> Status { throw std::bad_alloc(); });
  EXPECT_TRUE(status.IsOutOfMemory());
  EXPECT_EQ(ErrorText(status), "a: there is not enough memory");
}

std::string DescribeEncodings(const parquet::ColumnChunkMetaData& chunk) {
  std::vector<std::string> parts;
  for (const auto encoding : chunk.encodings()) {
    parts.push_back(parquet::EncodingToString(encoding));
  }
  for (const auto& pages : chunk.encoding_stats()) {
    parts.push_back(fmt::format("{}:{}x{}", static_cast<int>(pages.page_type),
                                parquet::EncodingToString(pages.encoding), pages.count));
  }
  return fmt::format("{}", fmt::join(parts, " "));
}

void ExpectSameStatistics(const parquet::ColumnChunkMetaData& copy,
                          const parquet::ColumnChunkMetaData& chunk) {
  const auto of_copy = copy.encoded_statistics();
  const auto of_chunk = chunk.encoded_statistics();
  ASSERT_EQ(of_copy == nullptr, of_chunk == nullptr);
  if (of_chunk == nullptr) return;
  EXPECT_EQ(of_copy->has_min, of_chunk->has_min);
  EXPECT_EQ(of_copy->min(), of_chunk->min());
  EXPECT_EQ(of_copy->max(), of_chunk->max());
  EXPECT_EQ(of_copy->null_count, of_chunk->null_count);
  EXPECT_EQ(of_copy->is_max_value_exact, of_chunk->is_max_value_exact);
}

void ExpectSameSizes(const parquet::ColumnChunkMetaData& copy,
                     const parquet::ColumnChunkMetaData& chunk) {
  ASSERT_EQ(copy.size_statistics() == nullptr, chunk.size_statistics() == nullptr);
  if (chunk.size_statistics() == nullptr) return;
  const auto& of_copy = *copy.size_statistics();
  const auto& of_chunk = *chunk.size_statistics();
  EXPECT_EQ(of_copy.definition_level_histogram, of_chunk.definition_level_histogram);
  EXPECT_EQ(of_copy.repetition_level_histogram, of_chunk.repetition_level_histogram);
  EXPECT_EQ(of_copy.unencoded_byte_array_data_bytes,
            of_chunk.unencoded_byte_array_data_bytes);
}

class OpenParquet {
 public:
  explicit OpenParquet(const RowGroupSource& source)
      : reader_(parquet::ParquetFileReader::Open(source.file)),
        row_group_(source.row_group),
        metadata_(reader_->metadata()->RowGroup(row_group_)) {}

  std::unique_ptr<parquet::ColumnChunkMetaData> Chunk(int column) {
    return metadata_->ColumnChunk(column);
  }
  std::shared_ptr<parquet::ColumnIndex> ColumnIndex(int column) {
    return Index()->GetColumnIndex(column);
  }
  std::shared_ptr<parquet::OffsetIndex> OffsetIndex(int column) {
    return Index()->GetOffsetIndex(column);
  }
  std::int64_t rows() const { return metadata_->num_rows(); }

 private:
  std::shared_ptr<parquet::RowGroupPageIndexReader> Index() {
    return reader_->GetPageIndexReader()->RowGroup(row_group_);
  }

  std::unique_ptr<parquet::ParquetFileReader> reader_;
  int row_group_;
  std::unique_ptr<parquet::RowGroupMetaData> metadata_;
};

/// The pages that the index names are those of the chunk, without a gap.
void ExpectPagesTile(const parquet::OffsetIndex& index,
                     const parquet::ColumnChunkMetaData& chunk) {
  std::int64_t next = chunk.data_page_offset();
  for (const parquet::PageLocation& page : index.page_locations()) {
    EXPECT_EQ(page.offset, next);
    next += page.compressed_page_size;
  }
  const std::int64_t start = chunk.has_dictionary_page() ? chunk.dictionary_page_offset()
                                                         : chunk.data_page_offset();
  EXPECT_EQ(next, start + chunk.total_compressed_size());
}

void ExpectSameIndex(const std::shared_ptr<parquet::ColumnIndex>& copy,
                     const std::shared_ptr<parquet::ColumnIndex>& index) {
  // A column with a page of NaN alone has none.
  ASSERT_EQ(copy == nullptr, index == nullptr);
  if (index == nullptr) return;
  EXPECT_EQ(copy->encoded_min_values(), index->encoded_min_values());
  EXPECT_EQ(copy->encoded_max_values(), index->encoded_max_values());
  EXPECT_EQ(copy->null_counts(), index->null_counts());
}

TEST_F(CopyTest, FooterAndPageIndexOfACopyAreThoseOfItsSource) {
  const types::Schema hidden = WithHidden(schema_);
  const Batch rows = RandomRows(hidden, 3000, TestSeed());
  const RowGroupSource source = SourceOf(hidden, rows);
  const auto writer = FileWriter::Make(schema_, SmallPages()).ValueOrDie();
  ASSERT_TRUE(writer->CopyRowGroup(source, {}).ok());
  OpenParquet copy(Open(writer->Finish({}).ValueOrDie()));
  OpenParquet original(source);
  for (int i = 0; i < Open(WriteFile(schema_, {})).footer->num_columns(); ++i) {
    SCOPED_TRACE(fmt::format("column {}", i));
    const auto chunk = original.Chunk(i + 1);  // behind the hidden one
    const auto copied = copy.Chunk(i);
    EXPECT_EQ(DescribeEncodings(*copied), DescribeEncodings(*chunk));
    EXPECT_EQ(copied->num_values(), chunk->num_values());
    EXPECT_EQ(copied->total_uncompressed_size(), chunk->total_uncompressed_size());
    ExpectSameStatistics(*copied, *chunk);
    ExpectSameSizes(*copied, *chunk);
    ExpectPagesTile(*copy.OffsetIndex(i), *copied);
    ExpectSameIndex(copy.ColumnIndex(i), original.ColumnIndex(i + 1));
  }
  EXPECT_GT(original.OffsetIndex(3)->page_locations().size(), 1U);
}

TEST_F(CopyTest, EveryRowGroupOfAnEncodedFileHasItsPageIndex) {
  const Batch rows = RandomRows(schema_, 900, TestSeed());
  FileWriterOptions options = SmallPages();
  options.row_group_bytes = 20'000;
  const WrittenFile file = WriteFile(schema_, {rows}, options);
  ASSERT_GT(file.row_groups.size(), 2U);
  for (std::size_t i = 0; i < file.row_groups.size(); ++i) {
    OpenParquet row_group(Open(file, static_cast<int>(i)));
    EXPECT_EQ(row_group.rows(), file.row_groups[i].rows);
    for (int column = 0; column < 20; ++column) {
      ExpectPagesTile(*row_group.OffsetIndex(column), *row_group.Chunk(column));
    }
  }
}

TEST_F(CopyTest, PageIndexIsLeftOutIfNotWanted) {
  const Batch rows = RandomRows(schema_, 100, TestSeed());
  const auto writer = FileWriter::Make(schema_, {.page_index = false}).ValueOrDie();
  ASSERT_TRUE(writer->CopyRowGroup(SourceOf(schema_, rows), {}).ok());
  ASSERT_TRUE(writer->Write(*rows).ok());
  const WrittenFile file = writer->Finish({}).ValueOrDie();
  for (const int row_group : {0, 1}) {
    OpenParquet parquet(Open(file, row_group));
    const auto chunk = parquet.Chunk(0);
    EXPECT_FALSE(chunk->GetOffsetIndexLocation().has_value());
    EXPECT_FALSE(chunk->GetColumnIndexLocation().has_value());
  }
}

TEST_F(CopyTest, RowGroupsInTheMiddleOfAFileAreCopied) {
  const Batch rows = RandomRows(schema_, 900, TestSeed());
  FileWriterOptions options = SmallPages();
  options.row_group_bytes = 20'000;
  const WrittenFile from = WriteFile(schema_, {rows}, options);
  const auto writer = FileWriter::Make(schema_, {}).ValueOrDie();
  std::vector<Batch> expected;
  for (const int row_group : {1, 0, 1}) {
    const RowGroupSource source = Open(from, row_group);
    ASSERT_TRUE(writer->CopyRowGroup(source, {}).ok());
    expected.push_back(Read(source, schema_));
  }
  EXPECT_TRUE(SameRows(ReadFile(writer->Finish({}).ValueOrDie(), schema_),
                       Concatenate(expected)));
}

TEST_F(CopyTest, ColumnsMayStandInAnotherOrderUnderAnotherName) {
  const Type text(TypeKind::kString);
  const Type number(TypeKind::kInt);
  const types::Schema from =
      SchemaOf({Optional(1, "a", number), Optional(2, "b", text),
                Optional(3, "p", Type::Struct({Optional(4, "x", number)}))});
  const types::Schema to =
      SchemaOf({Optional(3, "q", Type::Struct({Optional(4, "y", number)})),
                Optional(2, "c", text), Optional(1, "d", number)});
  const RowGroupSource source = SourceOf(from, Rows(from, R"([[1, "x", [7]]])"));
  ASSERT_TRUE(IsVerbatimCopyable(to, {}, source));
  const auto writer = FileWriter::Make(to, {}).ValueOrDie();
  ASSERT_TRUE(writer->CopyRowGroup(source, {}).ok());
  EXPECT_TRUE(SameRows(ReadFile(writer->Finish({}).ValueOrDie(), to),
                       Rows(to, R"([[[7], "x", 1]])")));
}

TEST_F(CopyTest, OnlyTheSameColumnsAndCodecAreCopyable) {
  const Type text(TypeKind::kString);
  const Type number(TypeKind::kInt);
  const Field tags = Optional(3, "l", Type::List(Optional(4, "element", text)));
  const types::Schema from = SchemaOf({Optional(1, "a", number), tags});
  const RowGroupSource source = SourceOf(from, Rows(from, R"([[1, ["x"]]])"));
  EXPECT_TRUE(IsVerbatimCopyable(from, {.compression_level = 9}, source));
  EXPECT_TRUE(IsVerbatimCopyable(SchemaOf({tags}), {}, source));
  EXPECT_FALSE(IsVerbatimCopyable(from, {.codec = Codec::kSnappy}, source));
  const struct {
    Field column;
    std::string_view why;
  } cases[] = {
      {Optional(1, "a", Type(TypeKind::kLong)), "widened"},
      {Optional(1, "a", Type(TypeKind::kDate)), "another logical type"},
      {Required(1, "a", number), "another repetition"},
      {Optional(9, "a", number), "missing"},
      {Optional(8, "s", Type::Struct({Optional(1, "a", number)})), "deeper"},
      {Optional(3, "l", Type::List(Required(4, "element", text))), "required element"},
      {Optional(5, "l", Type::List(Optional(4, "element", text))), "another list"},
  };
  for (const auto& [column, why] : cases) {
    EXPECT_FALSE(IsVerbatimCopyable(SchemaOf({column}), {}, source)) << why;
  }
  RowGroupSource beyond = source;
  beyond.row_group = 1;
  EXPECT_FALSE(IsVerbatimCopyable(from, {}, beyond));
}

TEST_F(CopyTest, WhatIsNotCopyableIsRefusedByName) {
  const types::Schema schema = SchemaOf({Optional(1, "a", Type(TypeKind::kInt))});
  const RowGroupSource source = SourceOf(schema, Rows(schema, "[[1]]"));
  const auto writer = FileWriter::Make(schema, {.codec = Codec::kGzip}).ValueOrDie();
  const Status status = writer->CopyRowGroup(source, {});
  EXPECT_TRUE(status.IsInvalid());
  EXPECT_THAT(status.message(), HasSubstr(source.name));
}

TEST_F(CopyTest, UnknownMetricsOfACopyMakeTheFilesUnknown) {
  const types::Schema schema = SchemaOf({Optional(1, "a", Type(TypeKind::kInt))});
  const Batch rows = Rows(schema, "[[1]]");
  const RowGroupSource source = SourceOf(schema, rows);
  for (const bool copy_first : {true, false}) {
    const auto writer = FileWriter::Make(schema, {}).ValueOrDie();
    if (!copy_first) {
      ASSERT_TRUE(writer->Write(*rows).ok());
    }
    ASSERT_TRUE(writer->CopyRowGroup(source, {}).ok());
    ASSERT_TRUE(writer->Write(*rows).ok());
    EXPECT_TRUE(writer->Finish({}).ValueOrDie().metrics.empty());
  }
}

TEST_F(CopyTest, MetricsOfACopyAreCutToTheFilesMode) {
  const types::Schema schema = SchemaOf({Optional(1, "a", Type(TypeKind::kString)),
                                         Optional(2, "b", Type(TypeKind::kString))});
  const Batch rows = Rows(schema, R"([["abc", "abc"]])");
  const MetricsConfig config{.default_mode = {.width = 1},
                             .columns = {{2, {.kind = MetricsMode::Kind::kCounts}}}};
  const auto writer = FileWriter::Make(schema, {.metrics = config}).ValueOrDie();
  ASSERT_TRUE(
      writer->CopyRowGroup(SourceOf(schema, rows), CollectMetrics(schema, {}, *rows))
          .ok());
  EXPECT_EQ(writer->Finish({}).ValueOrDie().metrics,
            CollectMetrics(schema, config, *rows));
}

}  // namespace
}  // namespace firn::parquet_io
