#include "firn/merge/gather.h"

#include <string>

#include <arrow/array.h>
#include <arrow/array/concatenate.h>
#include <arrow/builder.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/merge/fake_input.h"

namespace firn::merge {
namespace {

using arrow::Array;
using arrow::ArrayVector;

std::shared_ptr<Array> Strings(const std::vector<std::string>& values) {
  arrow::StringBuilder builder;
  EXPECT_TRUE(builder.AppendValues(values).ok());
  return builder.Finish().ValueOrDie();
}

std::shared_ptr<Array> Encoded(const std::vector<std::string>& values) {
  arrow::StringDictionary32Builder builder;
  for (const std::string& value : values) EXPECT_TRUE(builder.Append(value).ok());
  return builder.Finish().ValueOrDie();
}

TEST(GatherTest, SpansFollowEachOther) {
  const auto gathered = GatherColumn({Strings({"a", "b", "c"}), Strings({"x", "y"})},
                                     std::vector<Span>{{0, 1, 2}, {1, 2, 0}, {0, 1, 0}});
  ASSERT_TRUE(gathered.ok());
  EXPECT_TRUE((*gathered)->Equals(Strings({"c", "x", "y", "a"})));
}

TEST(GatherTest, NoSpansAreNoRows) {
  const auto gathered = GatherColumn({Strings({"a"})}, std::vector<Span>{});
  ASSERT_TRUE(gathered.ok());
  EXPECT_EQ((*gathered)->length(), 0);
}

TEST(GatherTest, OneSpanCopiesNothing) {
  const auto source = Strings({"a", "b", "c"});
  const auto gathered = GatherColumn({source}, std::vector<Span>{{0, 2, 1}});
  ASSERT_TRUE(gathered.ok());
  EXPECT_EQ((*gathered)->data()->buffers[2], source->data()->buffers[2]);
  EXPECT_TRUE((*gathered)->Equals(Strings({"b", "c"})));
}

TEST(GatherTest, EqualDictionariesAreKept) {
  const auto first = Encoded({"a", "b"});
  const auto gathered = GatherColumn({first, Encoded({"a", "b", "a"})},
                                     std::vector<Span>{{1, 1, 1}, {0, 1, 0}});
  ASSERT_TRUE(gathered.ok());
  const auto& encoded = static_cast<const arrow::DictionaryArray&>(**gathered);
  EXPECT_EQ(encoded.data()->dictionary, first->data()->dictionary);
  EXPECT_EQ(encoded.GetValueIndex(0), 1);
}

TEST(GatherTest, DifferentDictionariesAreUnified) {
  const auto gathered = GatherColumn({Encoded({"a", "b"}), Encoded({"c", "a"})},
                                     std::vector<Span>{{1, 2, 0}, {0, 2, 0}});
  ASSERT_TRUE(gathered.ok());
  const auto& encoded = static_cast<const arrow::DictionaryArray&>(**gathered);
  EXPECT_TRUE(encoded.dictionary()->Equals(Strings({"a", "b", "c"})));
  EXPECT_EQ(encoded.indices()->ToString(), "[\n  2,\n  0,\n  0,\n  1\n]");
}

TEST(GatherTest, DifferentTypesAreRefused) {
  const auto gathered = GatherColumn({Strings({"a"}), Encoded({"a"})},
                                     std::vector<Span>{{0, 1, 0}, {1, 1, 0}});
  EXPECT_TRUE(gathered.status().IsInvalid());
  EXPECT_THAT(ErrorText(gathered.status()), testing::HasSubstr("dictionary"));
}

TEST(GatherTest, DifferentSchemasAreRefused) {
  const auto batch = [](const std::string& name) {
    return arrow::RecordBatch::Make(arrow::schema({arrow::field(name, arrow::utf8())}), 1,
                                    {Strings({"a"})});
  };
  const auto gathered =
      GatherRows({batch("a"), batch("b")}, std::vector<Span>{{0, 1, 0}, {1, 1, 0}});
  EXPECT_TRUE(gathered.status().IsInvalid());
}

std::shared_ptr<arrow::DataType> NestedType() {
  return arrow::struct_(
      {arrow::field("tags", arrow::map(arrow::utf8(), arrow::utf8())),
       arrow::field("lists", arrow::list(arrow::list(arrow::int64()))),
       arrow::field("pair", arrow::fixed_size_list(arrow::boolean(), 2))});
}

std::vector<std::shared_ptr<arrow::DataType>> AllTypes() {
  return {arrow::null(),
          arrow::boolean(),
          arrow::int8(),
          arrow::int16(),
          arrow::int32(),
          arrow::int64(),
          arrow::float32(),
          arrow::float64(),
          arrow::date32(),
          arrow::time64(arrow::TimeUnit::MICRO),
          arrow::timestamp(arrow::TimeUnit::MICRO, "UTC"),
          arrow::timestamp(arrow::TimeUnit::NANO),
          arrow::decimal128(38, 3),
          arrow::fixed_size_binary(5),
          arrow::utf8(),
          arrow::binary(),
          arrow::large_utf8(),
          arrow::large_binary(),
          arrow::list(arrow::utf8()),
          arrow::large_list(arrow::int16()),
          arrow::map(arrow::utf8(), arrow::list(arrow::utf8())),
          arrow::fixed_size_list(arrow::utf8(), 3),
          arrow::struct_(
              {arrow::field("a", arrow::boolean()), arrow::field("b", arrow::utf8())}),
          NestedType()};
}

/// Appends random values to a builder of any of the types above.
class RandomValues {
 public:
  explicit RandomValues(SeededRandom& random) : random_(random) {}

  Status Append(arrow::ArrayBuilder& builder) {
    if (nulls_ && random_() % 4 == 0) return builder.AppendNull();
    switch (builder.type()->id()) {
      case arrow::Type::NA:
        return builder.AppendNull();
      case arrow::Type::STRUCT:
        return AppendStruct(static_cast<arrow::StructBuilder&>(builder));
      case arrow::Type::LIST:
        return AppendList(static_cast<arrow::ListBuilder&>(builder));
      case arrow::Type::LARGE_LIST:
        return AppendList(static_cast<arrow::LargeListBuilder&>(builder));
      case arrow::Type::MAP:
        return AppendMap(static_cast<arrow::MapBuilder&>(builder));
      case arrow::Type::FIXED_SIZE_LIST:
        return AppendFixedSizeList(static_cast<arrow::FixedSizeListBuilder&>(builder));
      case arrow::Type::STRING:
        return static_cast<arrow::StringBuilder&>(builder).Append(Text());
      case arrow::Type::BINARY:
        return static_cast<arrow::BinaryBuilder&>(builder).Append(Text());
      case arrow::Type::LARGE_STRING:
        return static_cast<arrow::LargeStringBuilder&>(builder).Append(Text());
      case arrow::Type::LARGE_BINARY:
        return static_cast<arrow::LargeBinaryBuilder&>(builder).Append(Text());
      default:
        return AppendFixedWidth(builder);
    }
  }

  Result<std::shared_ptr<Array>> Make(const std::shared_ptr<arrow::DataType>& type) {
    nulls_ = random_() % 3 != 0;
    FIRN_ASSIGN_OR_RETURN(auto builder, arrow::MakeBuilder(type));
    const std::size_t rows = random_() % 40;
    for (std::size_t row = 0; row < rows; ++row) FIRN_RETURN_NOT_OK(Append(*builder));
    FIRN_ASSIGN_OR_RETURN(auto array, builder->Finish());
    const auto from = static_cast<std::int64_t>(random_() % (rows + 1));
    const auto left = static_cast<std::uint64_t>(array->length() - from) + 1;
    return array->Slice(from, static_cast<std::int64_t>(random_() % left));
  }

 private:
  std::string Text() {
    return std::string(random_() % 6, static_cast<char>('a' + random_() % 26));
  }

  Status AppendFixedWidth(arrow::ArrayBuilder& builder) {
    const std::shared_ptr<arrow::DataType> type = builder.type();
    const auto number = static_cast<std::int64_t>(random_() % 100);
    if (type->id() == arrow::Type::BOOL) {
      return static_cast<arrow::BooleanBuilder&>(builder).Append(number % 2 != 0);
    }
    if (type->id() == arrow::Type::FIXED_SIZE_BINARY) {
      return static_cast<arrow::FixedSizeBinaryBuilder&>(builder).Append(
          std::string(5, static_cast<char>('a' + random_() % 26)));
    }
    if (type->id() == arrow::Type::DECIMAL128) {
      return static_cast<arrow::Decimal128Builder&>(builder).Append(
          arrow::Decimal128(number));
    }
    FIRN_ASSIGN_OR_RETURN(
        auto scalar,
        arrow::MakeScalar(arrow::int64(), number).ValueOrDie()->CastTo(type));
    return builder.AppendScalar(*scalar);
  }

  Status AppendStruct(arrow::StructBuilder& builder) {
    FIRN_RETURN_NOT_OK(builder.Append());
    for (int i = 0; i < builder.num_fields(); ++i) {
      FIRN_RETURN_NOT_OK(Append(*builder.field_builder(i)));
    }
    return Status::OK();
  }

  template <typename ListBuilder>
  Status AppendList(ListBuilder& builder) {
    FIRN_RETURN_NOT_OK(builder.Append());
    for (std::size_t i = random_() % 4; i > 0; --i) {
      FIRN_RETURN_NOT_OK(Append(*builder.value_builder()));
    }
    return Status::OK();
  }

  Status AppendMap(arrow::MapBuilder& builder) {
    FIRN_RETURN_NOT_OK(builder.Append());
    for (std::size_t i = random_() % 4; i > 0; --i) {
      auto& keys = static_cast<arrow::StringBuilder&>(*builder.key_builder());
      FIRN_RETURN_NOT_OK(keys.Append(Text()));
      FIRN_RETURN_NOT_OK(Append(*builder.item_builder()));
    }
    return Status::OK();
  }

  Status AppendFixedSizeList(arrow::FixedSizeListBuilder& builder) {
    FIRN_RETURN_NOT_OK(builder.Append());
    const auto type = builder.type();
    const auto& list = static_cast<const arrow::FixedSizeListType&>(*type);
    for (int i = 0; i < list.list_size(); ++i) {
      FIRN_RETURN_NOT_OK(Append(*builder.value_builder()));
    }
    return Status::OK();
  }

  SeededRandom& random_;
  bool nulls_ = true;
};

/// Two spans at least, so that nothing is answered with a slice.
std::vector<Span> RandomSpans(const ArrayVector& sources, SeededRandom& random) {
  std::vector<Span> spans;
  for (std::size_t i = 2 + random() % 20; i > 0; --i) {
    const auto source = static_cast<std::int32_t>(random() % sources.size());
    const std::int64_t length = sources[source]->length();
    if (length == 0) continue;
    const auto from = static_cast<std::int64_t>(random() % length);
    const auto left = static_cast<std::uint64_t>(length - from);
    const auto count =
        static_cast<std::int32_t>(random() % 2 == 0 ? 1 : 1 + random() % left);
    spans.push_back({.source = source, .count = count, .from = from});
  }
  return spans;
}

std::shared_ptr<Array> Concatenated(const ArrayVector& sources,
                                    const std::vector<Span>& spans) {
  ArrayVector slices = {sources[0]->Slice(0, 0)};
  for (const Span& span : spans) {
    slices.push_back(sources[span.source]->Slice(span.from, span.count));
  }
  return arrow::Concatenate(slices).ValueOrDie();
}

TEST(GatherTest, AllTypesAreWhatConcatenatedSlicesAre) {
  SeededRandom random;
  RandomValues values(random);
  for (const auto& type : AllTypes()) {
    for (int round = 0; round < 60; ++round) {
      ArrayVector sources(1 + random() % 4);
      for (auto& source : sources) {
        auto made = values.Make(type);
        ASSERT_TRUE(made.ok()) << made.status().ToString();
        source = *made;
      }
      const std::vector<Span> spans = RandomSpans(sources, random);
      const auto gathered = GatherColumn(sources, spans);
      ASSERT_TRUE(gathered.ok()) << gathered.status().ToString();
      ASSERT_TRUE((*gathered)->ValidateFull().ok()) << type->ToString();
      ASSERT_TRUE((*gathered)->Equals(Concatenated(sources, spans))) << type->ToString();
    }
  }
}

TEST(GatherTest, RandomDictionariesMeanTheSameValues) {
  SeededRandom random;
  for (int round = 0; round < 100; ++round) {
    ArrayVector encoded(1 + random() % 4);
    ArrayVector plain(encoded.size());
    for (std::size_t i = 0; i < encoded.size(); ++i) {
      std::vector<std::string> values(1 + random() % 20);
      for (std::string& value : values) value = std::to_string(random() % 10);
      encoded[i] = Encoded(values)->Slice(static_cast<std::int64_t>(random() % 2));
      plain[i] = Strings(values)->Slice(encoded[i]->offset());
    }
    const std::vector<Span> spans = RandomSpans(plain, random);
    const auto gathered = GatherColumn(encoded, spans);
    ASSERT_TRUE(gathered.ok()) << gathered.status().ToString();
    ASSERT_TRUE((*gathered)->ValidateFull().ok());
    const auto& array = static_cast<const arrow::DictionaryArray&>(**gathered);
    const auto& dictionary = static_cast<const arrow::StringArray&>(*array.dictionary());
    const auto expected = Concatenated(plain, spans);
    for (std::int64_t row = 0; row < array.length(); ++row) {
      ASSERT_EQ(dictionary.GetView(array.GetValueIndex(row)),
                static_cast<const arrow::StringArray&>(*expected).GetView(row));
    }
  }
}

}  // namespace
}  // namespace firn::merge
