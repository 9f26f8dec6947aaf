#include "firn/parquet_io/decoded_bytes.h"

#include <arrow/builder.h>
#include <arrow/io/memory.h>
#include <arrow/table.h>
#include <arrow/util/byte_size.h>
#include <parquet/arrow/writer.h>
#include <parquet/file_reader.h>

#include "firn/parquet_io/parquet_fixture.h"

namespace firn::parquet_io {
namespace {

constexpr std::int64_t kTextBytes = 8192;
constexpr std::int64_t kTexts = 2000;

/// A column of few distinct texts.
Batch LongTexts() {
  arrow::StringBuilder texts;
  for (std::int64_t i = 0; i < kTexts; ++i) {
    EXPECT_TRUE(
        texts.Append(std::string(kTextBytes, static_cast<char>('a' + i % 4))).ok());
  }
  const auto column = texts.Finish().ValueOrDie();
  const auto schema = arrow::schema({arrow::field("text", arrow::utf8())});
  return arrow::RecordBatch::Make(schema, kTexts, {column});
}

class DecodedBytesTest : public ParquetFixture {};

TEST_F(DecodedBytesTest, IsNoLessThanWhatIsRead) {
  const types::Schema schema = EveryType();
  const Batch rows = RandomRows(schema, 3000, TestSeed());
  const RowGroupSource source = Open(WriteFile(schema, {rows}));
  const std::int64_t read =
      arrow::util::ReferencedBufferSize(*Read(source, schema)).ValueOrDie();
  const std::int64_t estimate = DecodedBytesOf(source.footer, 0);
  EXPECT_GE(estimate, read) << "seed " << TestSeed();
  EXPECT_LE(estimate, 3 * read) << "seed " << TestSeed();
}

TEST_F(DecodedBytesTest, ADictionaryHidesNothing) {
  const types::Schema schema =
      SchemaOf({Optional(1, "text", types::Type(types::TypeKind::kString))});
  const RowGroupSource source = Open(WriteFile(schema, {LongTexts()}));
  EXPECT_LT(BytesOf(source.footer, 0).uncompressed, kTexts * kTextBytes / 100);
  EXPECT_GE(DecodedBytesOf(source.footer, 0), kTexts * kTextBytes);
  EXPECT_LE(DecodedBytesOf(source.footer, 0), kTexts * (kTextBytes + 16));
}

TEST_F(DecodedBytesTest, WithoutStatisticsOfSizesADictionaryIsEachValue) {
  const auto properties =
      parquet::WriterProperties::Builder()
          .set_size_statistics_level(parquet::SizeStatisticsLevel::None)
          ->build();
  const auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  const auto table = arrow::Table::FromRecordBatches({LongTexts()}).ValueOrDie();
  ASSERT_TRUE(parquet::arrow::WriteTable(*table, arrow::default_memory_pool(), sink,
                                         kTexts, properties)
                  .ok());
  const auto file =
      std::make_shared<arrow::io::BufferReader>(sink->Finish().ValueOrDie());
  const Footer footer = parquet::ParquetFileReader::Open(file)->metadata();
  EXPECT_GE(DecodedBytesOf(footer, 0), kTexts * kTextBytes);
}

}  // namespace
}  // namespace firn::parquet_io
