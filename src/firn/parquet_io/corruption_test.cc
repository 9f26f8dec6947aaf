#include <random>

#include <gmock/gmock.h>

#include <arrow/buffer.h>
#include <parquet/metadata.h>

#include "firn/parquet_io/parquet_fixture.h"

namespace firn::parquet_io {
namespace {

using testing::HasSubstr;

class CorruptionTest : public ParquetFixture {
 protected:
  Status Footer(std::string_view bytes) {
    EXPECT_TRUE(store_.PutWhole("damaged.parquet", bytes).ok());
    return ReadFooter(store_, "damaged.parquet", static_cast<std::int64_t>(bytes.size()))
        .status();
  }

  /// Reads and copies all that the file says it has. The first failure.
  Status UseAll(std::string_view bytes) {
    EXPECT_TRUE(store_.PutWhole("damaged.parquet", bytes).ok());
    const auto size = static_cast<std::int64_t>(bytes.size());
    RowGroupSource source{.file = OpenObject(store_, "damaged.parquet", size),
                          .name = "damaged.parquet"};
    FIRN_ASSIGN_OR_RETURN(source.footer, ReadFooter(store_, "damaged.parquet", size));
    const int row_groups = std::min(source.footer->num_row_groups(), 3);
    for (source.row_group = 0; source.row_group < row_groups; ++source.row_group) {
      FIRN_RETURN_NOT_OK(UseRowGroup(source));
    }
    return Status::OK();
  }

  Status UseRowGroup(const RowGroupSource& source) {
    const std::int64_t rows = source.footer->RowGroup(source.row_group)->num_rows();
    const auto tried = std::clamp<std::int64_t>(rows, 0, 5000);
    const Status read = TryRead(source, schema_, 0, tried).status();
    RowGroupSource near = source;
    near.is_near = true;
    const Status read_near = TryRead(near, schema_, 0, tried).status();
    EXPECT_TRUE(read_near.ok() || IsError(read_near, ErrorKind::kCorruption) ||
                read_near.IsInvalid())
        << read_near.ToString();
    EXPECT_EQ(read_near.ok(), read.ok()) << read.ToString() << read_near.ToString();
    if (IsVerbatimCopyable(schema_, {}, source)) {
      FIRN_ASSIGN_OR_RETURN(const auto writer, FileWriter::Make(schema_, {}));
      FIRN_RETURN_NOT_OK(writer->CopyRowGroup(source, {}));
      FIRN_RETURN_NOT_OK(writer->Finish({}).status());
    }
    return read;
  }

  std::string GoodFile() {
    FileWriterOptions options{.page_bytes = 2000};
    options.row_group_bytes = 30'000;
    const WrittenFile file =
        WriteFile(schema_, {RandomRows(schema_, 600, TestSeed())}, options);
    return std::string(std::string_view(*file.bytes));
  }

  const types::Schema schema_ = EveryType();
};

TEST_F(CorruptionTest, WhatIsNoParquetFileIsRefusedByName) {
  using std::string_view_literals::operator""sv;
  const struct {
    std::size_t size;
    std::string_view tail;
    std::string_view message;
  } cases[] = {
      {0, ""sv, "only 0 bytes"},
      {8, "PAR1"sv, "only 8 bytes"},
      {100, ""sv, "does not end in PAR1"},
      {100, "PAR1"sv, "footer has"},
      {100, "\0\0\0\0PAR1"sv, "footer has 0 bytes"},
      {100, "\x50\0\0\0PAR1"sv, "as Parquet"},
  };
  for (const auto& [size, tail, message] : cases) {
    std::string bytes(size, '\xff');
    std::ranges::copy(tail, bytes.end() - static_cast<std::ptrdiff_t>(tail.size()));
    const Status status = Footer(bytes);
    EXPECT_TRUE(IsError(status, ErrorKind::kCorruption)) << status.ToString();
    EXPECT_THAT(status.message(), HasSubstr(message));
    EXPECT_THAT(status.message(), HasSubstr("damaged.parquet"));
  }
}

TEST_F(CorruptionTest, FailuresOfTheStoreStayWhatTheyAre) {
  EXPECT_TRUE(
      IsError(ReadFooter(store_, "missing", 1000).status(), ErrorKind::kNotFound));
}

TEST_F(CorruptionTest, ATruncatedFileIsCorruption) {
  const std::string good = GoodFile();
  ASSERT_TRUE(UseAll(good).ok());
  for (const std::size_t size : {good.size() - 1, good.size() / 2, std::size_t{13}}) {
    EXPECT_TRUE(IsError(Footer(good.substr(0, size)), ErrorKind::kCorruption)) << size;
  }
}

TEST_F(CorruptionTest, FlippedBytesNeverCrash) {
  const std::string good = GoodFile();
  std::mt19937_64 random(TestSeed());
  std::int64_t failures = 0;
  for (int round = 0; round < 600; ++round) {
    std::string bytes = good;
    // Mostly in the footer, which is where offsets and sizes stand.
    const std::size_t from = round % 4 == 0 ? 0 : bytes.size() - bytes.size() / 8;
    for (std::uint64_t n = 1 + random() % 3; n > 0; --n) {
      bytes[from + random() % (bytes.size() - from)] ^=
          static_cast<char>(1 + random() % 255);
    }
    const Status status = UseAll(bytes);
    if (status.ok()) continue;
    ++failures;
    EXPECT_TRUE(IsError(status, ErrorKind::kCorruption) || status.IsInvalid())
        << "seed " << TestSeed() << " round " << round << ": " << status.ToString();
  }
  EXPECT_GT(failures, 100);
}

TEST_F(CorruptionTest, AChangedValueIsCorruption) {
  const WrittenFile file =
      WriteFile(schema_, {RandomRows(schema_, 600, TestSeed())},
                {.codec = Codec::kUncompressed, .page_index = false});
  std::string bytes((std::string_view(*file.bytes)));
  ASSERT_TRUE(UseAll(bytes).ok());
  // Values of its last column end where the row group ends.
  const WrittenRowGroup& row_group = file.row_groups.back();
  bytes[static_cast<std::size_t>(row_group.offset + row_group.bytes - 1)] ^= 1;
  const Status status = UseAll(bytes);
  EXPECT_TRUE(IsError(status, ErrorKind::kCorruption)) << status.ToString();
}

TEST_F(CorruptionTest, AChangedPageIsNotCopied) {
  const Batch rows = RandomRows(schema_, 600, TestSeed());
  const WrittenFile file = WriteFile(schema_, {rows}, {.page_bytes = 2000});
  const std::string good((std::string_view(*file.bytes)));
  const auto pages = static_cast<std::uint64_t>(file.row_groups.at(0).bytes);
  std::mt19937_64 random(TestSeed());
  int copied = 0;
  for (int round = 0; round < 300; ++round) {
    std::string bytes = good;
    const auto at =
        static_cast<std::size_t>(file.row_groups[0].offset) + random() % pages;
    bytes[at] ^= static_cast<char>(1 << random() % 8);
    WrittenFile damaged = file;
    damaged.bytes = arrow::Buffer::FromString(std::move(bytes));
    const auto writer = FileWriter::Make(schema_, {}).ValueOrDie();
    const Status status = writer->CopyRowGroup(Open(damaged), {});
    if (!status.ok()) {
      EXPECT_TRUE(IsError(status, ErrorKind::kCorruption)) << status.ToString();
      continue;
    }
    ++copied;
    EXPECT_TRUE(ReadFile(writer->Finish({}).ValueOrDie(), schema_)
                    ->Equals(*rows, /*check_metadata=*/false,
                             arrow::EqualOptions().nans_equal(true)))
        << "seed " << TestSeed() << " byte " << at;
  }
  // What is left are bits of page headers that change no value.
  EXPECT_LT(copied, 60);
}

}  // namespace
}  // namespace firn::parquet_io
