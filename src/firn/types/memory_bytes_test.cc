#include "firn/types/memory_bytes.h"

#include <arrow/api.h>
#include <arrow/json/from_string.h>
#include <arrow/util/byte_size.h>
#include <gtest/gtest.h>

namespace firn::types {
namespace {

struct Column {
  std::shared_ptr<arrow::DataType> type;
  const char* values;
};

const Column kColumns[] = {
    {arrow::int32(), "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]"},
    {arrow::int64(), "[1, null, 3, 4, 5, 6, 7, 8, 9, 10]"},
    {arrow::boolean(), "[true, false, true, null, true, true, true, true, true, true]"},
    {arrow::utf8(), R"(["a", "bc", "", "def", "g", "h", "i", "j", "k", "l"])"},
    {arrow::binary(), R"(["a", null, "", "def", "g", "h", "i", "j", "k", null])"},
    {arrow::large_utf8(), R"(["a", "bc", "", "def", "g", "h", "i", "j", "k", "l"])"},
    {arrow::decimal128(9, 2), R"(["1.00", "2.00", null, "1.00", "1.00", "1.00", "1.00",
                                  "1.00", "1.00", "1.00"])"},
    {arrow::fixed_size_binary(2),
     R"(["ab", "cd", "ab", "cd", "ab", "cd", "ab", "cd", "ab", "cd"])"},
    {arrow::list(arrow::int64()),
     "[[1], [2, 3], [], null, [4], [5], [6], [7], [8], [9, 10]]"},
    {arrow::null(), "[null, null, null, null, null, null, null, null, null, null]"},
};

TEST(MemoryBytesTest, AreThoseOfArrowForEachPartOfEachType) {
  for (const Column& column : kColumns) {
    const auto array =
        arrow::json::ArrayFromJSONString(column.type, column.values).ValueOrDie();
    const auto rows = arrow::RecordBatch::Make(
        arrow::schema({arrow::field("a", column.type)}), array->length(), {array});
    for (std::int64_t from = 0; from < rows->num_rows(); ++from) {
      for (std::int64_t length = 0; from + length <= rows->num_rows(); ++length) {
        const auto part = rows->Slice(from, length);
        EXPECT_EQ(MemoryBytes(*part).ValueOrDie(),
                  arrow::util::ReferencedBufferSize(*part).ValueOrDie())
            << column.type->ToString() << " from " << from << ", " << length;
      }
    }
  }
}

TEST(MemoryBytesTest, ColumnsAreAddedUp) {
  const auto array = arrow::json::ArrayFromJSONString(arrow::int32(), "[1]").ValueOrDie();
  const auto rows =
      arrow::RecordBatch::Make(arrow::schema({arrow::field("a", arrow::int32()),
                                              arrow::field("b", arrow::int32())}),
                               1, {array, array});
  EXPECT_EQ(MemoryBytes(*rows).ValueOrDie(), 8);
}

}  // namespace
}  // namespace firn::types
