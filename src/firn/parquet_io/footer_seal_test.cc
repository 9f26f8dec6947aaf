#include "firn/parquet_io/footer_seal.h"

#include <algorithm>
#include <cstring>

#include <gmock/gmock.h>

#include <arrow/buffer.h>
#include <parquet/metadata.h>

#include "firn/parquet_io/parquet_fixture.h"

namespace firn::parquet_io {
namespace {

/// A file of one row group with a page index, cut into what the seal covers and the rest.
class FooterSealTest : public ParquetFixture {
 protected:
  FooterSealTest() {
    const auto writer = FileWriter::Make(schema_, {.page_bytes = 500}).ValueOrDie();
    EXPECT_TRUE(writer->Write(*RandomRows(schema_, 300, TestSeed())).ok());
    file_ = writer->Finish({{"k", "v"}, AskForSeal()}).ValueOrDie();
    bytes_ = std::string(std::string_view(*file_.bytes));
    std::uint32_t length = 0;
    std::memcpy(&length, bytes_.data() + bytes_.size() - 8, sizeof length);
    footer_begin_ = bytes_.size() - 8 - length;
    index_begin_ = static_cast<std::size_t>(file_.row_groups.at(0).offset +
                                            file_.row_groups.at(0).bytes);
  }

  /// Opens and copies the file with one bit flipped.
  Status CopyWithFlippedBit(std::size_t at, int bit) {
    std::string bytes = bytes_;
    bytes[at] ^= static_cast<char>(1 << bit);
    EXPECT_TRUE(store_.PutWhole("flipped", bytes).ok());
    const auto size = static_cast<std::int64_t>(bytes.size());
    FIRN_ASSIGN_OR_RETURN(const Footer footer, ReadFooter(store_, "flipped", size));
    const auto writer = FileWriter::Make(schema_, {}).ValueOrDie();
    return writer->CopyRowGroup({.file = OpenObject(store_, "flipped", size),
                                 .footer = footer,
                                 .name = "flipped"},
                                {});
  }

  const types::Schema schema_ =
      SchemaOf({Optional(1, "a", types::Type(types::TypeKind::kLong)),
                Optional(2, "b", types::Type(types::TypeKind::kString)),
                Optional(3, "c", types::Type(types::TypeKind::kDouble))});
  WrittenFile file_;
  std::string bytes_;
  std::size_t index_begin_ = 0;
  std::size_t footer_begin_ = 0;
};

TEST_F(FooterSealTest, TheWholeFileIsCopied) {
  const RowGroupSource source = Open(file_);
  EXPECT_EQ(source.footer->key_value_metadata()->Get("k").ValueOrDie(), "v");
  EXPECT_TRUE(FileWriter::Make(schema_, {}).ValueOrDie()->CopyRowGroup(source, {}).ok());
}

TEST_F(FooterSealTest, EveryFlippedBitOfAPageIndexIsCorruption) {
  ASSERT_GT(footer_begin_, index_begin_ + 100);
  for (std::size_t at = index_begin_; at < footer_begin_; ++at) {
    const Status status = CopyWithFlippedBit(at, static_cast<int>(at % 8));
    ASSERT_TRUE(IsError(status, ErrorKind::kCorruption)) << at << ": " << status;
  }
}

TEST_F(FooterSealTest, EveryFlippedBitOfTheFooterIsCorruption) {
  const std::size_t key = bytes_.rfind(kFooterCrcKey);
  for (std::size_t at = footer_begin_; at < bytes_.size() - 8; ++at) {
    // Without its key there is no seal, but nothing else is changed then.
    const bool is_key = at >= key && at < key + kFooterCrcKey.size() + 2;
    if (is_key) continue;
    for (int bit = 0; bit < 8; ++bit) {
      const Status status = CopyWithFlippedBit(at, bit);
      ASSERT_TRUE(IsError(status, ErrorKind::kCorruption)) << at << ": " << status;
    }
  }
}

TEST_F(FooterSealTest, ASealedFooterMayBeSealedAgain) {
  const auto footer = [&](const std::string& file) {
    return file.substr(footer_begin_, file.size() - 8 - footer_begin_);
  };
  std::string changed = bytes_;
  SealFooter(changed);
  EXPECT_EQ(changed, bytes_);
  changed[footer_begin_] ^= 1;
  EXPECT_TRUE(IsError(CheckFooterSeal(footer(changed)), ErrorKind::kCorruption));
  SealFooter(changed);
  EXPECT_TRUE(CheckFooterSeal(footer(changed)).ok());
}

}  // namespace
}  // namespace firn::parquet_io
