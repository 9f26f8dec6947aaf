#include "firn/parquet_io/parquet_fixture.h"

#include <cstdlib>
#include <limits>
#include <utility>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/json/from_string.h>
#include <arrow/table.h>
#include <parquet/metadata.h>

#include "firn/types/arrow_types.h"

namespace firn::parquet_io {
namespace {

using types::Field;
using types::Type;
using types::TypeKind;

constexpr std::int64_t kBatchRows = 1000;

class RandomColumn {
 public:
  explicit RandomColumn(std::uint64_t seed) : random_(seed) {}

  std::shared_ptr<arrow::Array> Make(const Field& field, std::int64_t rows) {
    auto builder = arrow::MakeBuilder(types::ToArrowType(field.type)).ValueOrDie();
    for (std::int64_t i = 0; i < rows; ++i) Append(field, *builder);
    return builder->Finish().ValueOrDie();
  }

 private:
  std::uint64_t Below(std::uint64_t limit) { return random_.Random64() % limit; }

  void Append(const Field& field, arrow::ArrayBuilder& builder) {
    if (!field.required && Below(5) == 0) {
      EXPECT_TRUE(builder.AppendNull().ok());
      return;
    }
    EXPECT_TRUE(AppendValue(field.type, builder).ok()) << field.name;
  }

  Status AppendValue(const Type& type, arrow::ArrayBuilder& builder) {
    switch (type.kind()) {
      case TypeKind::kBoolean:
        return As<arrow::BooleanBuilder>(builder).Append(Below(2) == 0);
      case TypeKind::kInt:
        return As<arrow::Int32Builder>(builder).Append(Number<std::int32_t>());
      case TypeKind::kDate:
        return As<arrow::Date32Builder>(builder).Append(Number<std::int32_t>());
      case TypeKind::kLong:
        return As<arrow::Int64Builder>(builder).Append(Number<std::int64_t>());
      case TypeKind::kTime:
        return As<arrow::Time64Builder>(builder).Append(
            static_cast<std::int64_t>(Below(86'400'000'000)));
      case TypeKind::kTimestamp:
      case TypeKind::kTimestamptz:
      case TypeKind::kTimestampNs:
      case TypeKind::kTimestamptzNs:
        return As<arrow::TimestampBuilder>(builder).Append(Number<std::int64_t>());
      case TypeKind::kFloat:
        return As<arrow::FloatBuilder>(builder).Append(Floating<float>());
      case TypeKind::kDouble:
        return As<arrow::DoubleBuilder>(builder).Append(Floating<double>());
      case TypeKind::kDecimal:
        return As<arrow::Decimal128Builder>(builder).Append(Decimal(type.precision()));
      case TypeKind::kString:
        return As<arrow::StringBuilder>(builder).Append(Text());
      case TypeKind::kBinary:
        return As<arrow::BinaryBuilder>(builder).Append(Bytes(Below(24)));
      case TypeKind::kUuid:
        return As<arrow::FixedSizeBinaryBuilder>(builder).Append(Bytes(16));
      case TypeKind::kFixed:
        return As<arrow::FixedSizeBinaryBuilder>(builder).Append(
            Bytes(static_cast<std::size_t>(type.length())));
      case TypeKind::kStruct:
        return AppendStruct(type, As<arrow::StructBuilder>(builder));
      case TypeKind::kList:
        return AppendList(type, As<arrow::ListBuilder>(builder));
      case TypeKind::kMap:
        return AppendMap(type, As<arrow::MapBuilder>(builder));
    }
    return Status::OK();
  }

  template <typename Builder>
  static Builder& As(arrow::ArrayBuilder& builder) {
    return static_cast<Builder&>(builder);
  }

  Status AppendStruct(const Type& type, arrow::StructBuilder& builder) {
    FIRN_RETURN_NOT_OK(builder.Append());
    for (std::size_t i = 0; i < type.fields().size(); ++i) {
      Append(type.fields()[i], *builder.field_builder(static_cast<int>(i)));
    }
    return Status::OK();
  }

  Status AppendList(const Type& type, arrow::ListBuilder& builder) {
    FIRN_RETURN_NOT_OK(builder.Append());
    for (std::uint64_t n = Below(4); n > 0; --n) {
      Append(type.fields()[0], *builder.value_builder());
    }
    return Status::OK();
  }

  Status AppendMap(const Type& type, arrow::MapBuilder& builder) {
    FIRN_RETURN_NOT_OK(builder.Append());
    for (std::uint64_t n = Below(4); n > 0; --n) {
      Append(type.fields()[0], *builder.key_builder());
      Append(type.fields()[1], *builder.item_builder());
    }
    return Status::OK();
  }

  template <typename T>
  T Number() {
    using Limits = std::numeric_limits<T>;
    switch (Below(50)) {
      case 0:
        return Limits::min();
      case 1:
        return Limits::max();
      default:
        return static_cast<T>(static_cast<std::int64_t>(Below(2001)) - 1000);
    }
  }

  template <typename T>
  T Floating() {
    using Limits = std::numeric_limits<T>;
    const T choices[] = {Limits::quiet_NaN(), -Limits::quiet_NaN(), T{0}, -T{0}, T{1.5}};
    if (Below(2) == 0) return choices[Below(std::size(choices))];
    if (Below(40) == 0) return Below(2) == 0 ? Limits::infinity() : -Limits::infinity();
    return static_cast<T>(static_cast<double>(Below(2000)) / 16 - 60);
  }

  arrow::Decimal128 Decimal(std::int32_t precision) {
    const arrow::Decimal128 limit = arrow::Decimal128::GetMaxValue(precision);
    const arrow::Decimal128 value(static_cast<std::int64_t>(random_.Random64() >> 2),
                                  random_.Random64());
    const arrow::Decimal128 small = value % limit;
    return Below(2) == 0 ? small : arrow::Decimal128(-small);
  }

  std::string Bytes(std::size_t size) {
    std::string bytes(size, '\xff');
    for (char& byte : bytes) {
      if (Below(3) != 0) byte = static_cast<char>(Below(256));
    }
    return bytes;
  }

  std::string Text() {
    static constexpr std::string_view kCharacters[] = {"a",
                                                       "z",
                                                       "\x7f",
                                                       "\xc3\xbf",
                                                       "\xed\x9f\xbf",
                                                       "\xef\xbf\xbf",
                                                       "\xf0\x9f\x8f\x94",
                                                       "\xf4\x8f\xbf\xbf"};
    std::string text;
    for (std::uint64_t n = Below(30); n > 0; --n) {
      text += kCharacters[Below(std::size(kCharacters))];
    }
    return text;
  }

  FakeRuntime random_;
};

}  // namespace

Field Optional(FieldId id, std::string name, Type type) {
  return {.id = id, .name = std::move(name), .type = std::move(type)};
}

Field Required(FieldId id, std::string name, Type type) {
  Field field = Optional(id, std::move(name), std::move(type));
  field.required = true;
  return field;
}

types::Schema SchemaOf(std::vector<Field> fields) {
  return {.id = SchemaId(0), .fields = std::move(fields)};
}

std::vector<Field> EveryPrimitive() {
  std::vector<Type> primitives;
  for (const TypeKind kind :
       {TypeKind::kBoolean, TypeKind::kInt, TypeKind::kLong, TypeKind::kFloat,
        TypeKind::kDouble, TypeKind::kDate, TypeKind::kTime, TypeKind::kTimestamp,
        TypeKind::kTimestamptz, TypeKind::kTimestampNs, TypeKind::kTimestamptzNs,
        TypeKind::kString, TypeKind::kUuid, TypeKind::kBinary}) {
    primitives.push_back(Type(kind));
  }
  primitives.push_back(Type::Fixed(5));
  for (const std::int32_t precision : {1, 9, 10, 18, 19, 38}) {
    primitives.push_back(Type::Decimal(precision, precision / 2));
  }
  std::vector<Field> fields;
  for (const Type& type : primitives) {
    const auto id = static_cast<FieldId>(fields.size() + 1);
    fields.push_back(Optional(id, "c" + std::to_string(id), type));
  }
  return fields;
}

types::Schema EveryType() {
  std::vector<Field> fields = EveryPrimitive();
  const Type text(TypeKind::kString);
  const Type pair = Type::Struct(
      {Required(101, "x", Type(TypeKind::kDouble)), Optional(102, "name", text)});
  fields.push_back(Required(100, "point", pair));
  const Type inner = Type::Struct({Optional(112, "deep", Type(TypeKind::kFloat))});
  fields.push_back(Optional(110, "maybe",
                            Type::Struct({Optional(111, "in", inner),
                                          Required(113, "n", Type(TypeKind::kInt))})));
  fields.push_back(Optional(120, "tags", Type::List(Optional(121, "element", text))));
  fields.push_back(Required(130, "attributes",
                            Type::Map(Required(131, "key", text),
                                      Optional(132, "value", Type(TypeKind::kUuid)))));
  const Type item =
      Type::Struct({Optional(142, "f", Type(TypeKind::kFloat)),
                    Optional(143, "list", Type::List(Required(144, "element", text)))});
  fields.push_back(Optional(140, "items", Type::List(Optional(141, "element", item))));
  return SchemaOf(std::move(fields));
}

Batch Rows(const types::Schema& schema, std::string_view json) {
  const auto arrow_schema = types::ToArrowSchema(schema);
  const auto rows =
      arrow::json::ArrayFromJSONString(arrow::struct_(arrow_schema->fields()), json)
          .ValueOrDie();
  const auto& columns = static_cast<const arrow::StructArray&>(*rows);
  return arrow::RecordBatch::Make(arrow_schema, rows->length(), columns.fields());
}

Batch RandomRows(const types::Schema& schema, std::int64_t rows, std::uint64_t seed) {
  RandomColumn random(seed);
  arrow::ArrayVector columns;
  for (const Field& field : schema.fields) columns.push_back(random.Make(field, rows));
  return arrow::RecordBatch::Make(types::ToArrowSchema(schema), rows, std::move(columns));
}

WrittenFile ParquetFixture::WriteFile(const types::Schema& schema,
                                      const std::vector<Batch>& batches,
                                      const FileWriterOptions& options) {
  const auto writer = FileWriter::Make(schema, options).ValueOrDie();
  for (const Batch& batch : batches) {
    const Status written = writer->Write(*batch);
    EXPECT_TRUE(written.ok()) << written.ToString();
  }
  return writer->Finish({{"firn.test", "a value"}}).ValueOrDie();
}

RowGroupSource ParquetFixture::Open(const WrittenFile& file, int row_group) {
  const std::string key = "file-" + std::to_string(++files_) + ".parquet";
  EXPECT_TRUE(store_.PutWhole(key, std::string_view(*file.bytes)).ok());
  return {.file = OpenObject(store_, key, file.bytes->size()),
          .footer = ReadFooter(store_, key, file.bytes->size()).ValueOrDie(),
          .row_group = row_group,
          .name = store_.Location(key)};
}

Result<Batch> ParquetFixture::TryRead(const RowGroupSource& source,
                                      const types::Schema& schema, std::int64_t first_row,
                                      std::int64_t rows) {
  FIRN_ASSIGN_OR_RETURN(const auto reader,
                        ReadRowGroup(source, schema, first_row, rows, kBatchRows));
  FIRN_ASSIGN_OR_RETURN(const auto table, reader->ToTable());
  return table->CombineChunksToBatch();
}

Batch ParquetFixture::Read(const RowGroupSource& source, const types::Schema& schema) {
  const std::int64_t rows = source.footer->RowGroup(source.row_group)->num_rows();
  return TryRead(source, schema, 0, rows).ValueOrDie();
}

Batch ParquetFixture::ReadFile(const WrittenFile& file, const types::Schema& schema) {
  RowGroupSource source = Open(file);
  std::vector<Batch> row_groups;
  for (int i = 0; i < source.footer->num_row_groups(); ++i) {
    source.row_group = i;
    row_groups.push_back(Read(source, schema));
  }
  return arrow::Table::FromRecordBatches(types::ToArrowSchema(schema), row_groups)
      .ValueOrDie()
      ->CombineChunksToBatch()
      .ValueOrDie();
}

}  // namespace firn::parquet_io
