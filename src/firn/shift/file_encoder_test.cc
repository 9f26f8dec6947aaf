#include "firn/shift/file_encoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <arrow/api.h>

#include "firn/types/arrow_types.h"

namespace firn::shift {
namespace {

using testing::HasSubstr;

const types::Schema kSchema{.fields = {{.id = 1,
                                        .name = "n",
                                        .type = types::Type(types::TypeKind::kLong),
                                        .required = true}}};

std::shared_ptr<arrow::RecordBatch> Numbers(std::int64_t from, std::int64_t count) {
  arrow::Int64Builder builder;
  for (std::int64_t n = from; n < from + count; ++n) EXPECT_TRUE(builder.Append(n).ok());
  return arrow::RecordBatch::Make(types::ToArrowSchema(kSchema), count,
                                  {builder.Finish().ValueOrDie()});
}

/// A row of a required column, without its value.
std::shared_ptr<arrow::RecordBatch> BadRow() {
  arrow::Int64Builder builder;
  EXPECT_TRUE(builder.AppendNull().ok());
  return arrow::RecordBatch::Make(types::ToArrowSchema(kSchema), 1,
                                  {builder.Finish().ValueOrDie()});
}

/// In the caller's thread, and on one of its own.
class FileEncoderTest : public testing::TestWithParam<bool> {
 protected:
  FileEncoder Make() {
    return FileEncoder(parquet_io::FileWriter::Make(kSchema, {}).ValueOrDie(),
                       GetParam() ? &SystemRuntime() : nullptr);
  }
};

INSTANTIATE_TEST_SUITE_P(Threads, FileEncoderTest, testing::Bool());

TEST_P(FileEncoderTest, TheFileIsTheWriters) {
  const auto writer = parquet_io::FileWriter::Make(kSchema, {}).ValueOrDie();
  FileEncoder encoder = Make();
  std::vector<std::int64_t> estimates;
  for (std::int64_t i = 0; i < 20; ++i) {
    const std::int64_t estimate =
        i < 4 ? 0 : estimates.at(static_cast<std::size_t>(i - 4));
    EXPECT_EQ(encoder.bytes_estimate(), estimate);
    ASSERT_TRUE(writer->Write(*Numbers(1000 * i, 1000)).ok());
    estimates.push_back(writer->bytes_estimate());
    ASSERT_TRUE(encoder.Write(Numbers(1000 * i, 1000)).ok());
  }
  const auto expected = writer->Finish({{"k", "v"}}).ValueOrDie();
  const auto file = encoder.Finish({{"k", "v"}}).ValueOrDie();
  EXPECT_EQ(file.rows, 20'000);
  EXPECT_TRUE(file.bytes->Equals(*expected.bytes));
  EXPECT_EQ(file.metrics, expected.metrics);
}

TEST_P(FileEncoderTest, AFailureIsToldInTheEnd) {
  FileEncoder encoder = Make();
  ASSERT_TRUE(encoder.Write(Numbers(0, 10)).ok());
  (void)encoder.Write(BadRow());
  const Status status = encoder.Finish({}).status();
  // Without a thread Write has told, and Finish may do anything but crash.
  if (GetParam()) {
    EXPECT_THAT(status.message(), HasSubstr("required column 'n'"));
  }
}

TEST_P(FileEncoderTest, ACallerWhoGoesOnIsTold) {
  FileEncoder encoder = Make();
  Status status;
  for (int i = 0; i < 10 && status.ok(); ++i) status = encoder.Write(BadRow());
  EXPECT_THAT(status.message(), HasSubstr("required column 'n'"));
}

TEST_P(FileEncoderTest, UnfinishedEndsQuietly) {
  FileEncoder encoder = Make();
  EXPECT_TRUE(encoder.Write(Numbers(0, 1000)).ok());
  EXPECT_TRUE(encoder.Write(Numbers(0, 1000)).ok());
}

}  // namespace
}  // namespace firn::shift
