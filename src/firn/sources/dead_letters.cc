#include "firn/sources/dead_letters.h"

#include <algorithm>

#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/record_batch.h>

#include "firn/types/arrow_types.h"

namespace firn::sources {
namespace {

using types::Type;
using types::TypeKind;

/// In the order of DeadLetterSchema.
class RowBuilder {
 public:
  Status Append(const DeadLetter& letter, WallTime now) {
    FIRN_RETURN_NOT_OK(raw_.Append(letter.raw));
    FIRN_RETURN_NOT_OK(source_.Append(letter.source));
    FIRN_RETURN_NOT_OK(position_.Append(letter.position));
    FIRN_RETURN_NOT_OK(reason_.Append(letter.reason));
    FIRN_RETURN_NOT_OK(time_.Append(now.time_since_epoch().count()));
    return letter.format == nullptr ? format_.AppendNull()
                                    : format_.Append(*letter.format);
  }

  Result<std::shared_ptr<arrow::RecordBatch>> Finish(
      std::shared_ptr<arrow::Schema> schema) {
    arrow::ArrayVector columns;
    std::vector<arrow::ArrayBuilder*> builders = {&raw_,    &source_, &position_,
                                                  &reason_, &time_,   &format_};
    for (arrow::ArrayBuilder* builder : builders) {
      FIRN_ASSIGN_OR_RETURN(auto column, builder->Finish());
      columns.push_back(std::move(column));
    }
    const std::int64_t rows = columns[0]->length();
    return arrow::RecordBatch::Make(std::move(schema), rows, std::move(columns));
  }

 private:
  arrow::BinaryBuilder raw_;
  arrow::StringBuilder source_;
  arrow::Int64Builder position_;
  arrow::StringBuilder reason_;
  arrow::TimestampBuilder time_{types::ToArrowType(Type(TypeKind::kTimestamptz)),
                                arrow::default_memory_pool()};
  arrow::StringBuilder format_;
};

Result<std::shared_ptr<arrow::Int64Array>> OffsetsOf(
    const std::vector<DeadLetter>& letters) {
  arrow::Int64Builder builder;
  for (const DeadLetter& letter : letters) {
    FIRN_RETURN_NOT_OK(builder.Append(letter.offset));
  }
  std::shared_ptr<arrow::Int64Array> offsets;
  FIRN_RETURN_NOT_OK(builder.Finish(&offsets));
  return offsets;
}

/// "required long", as a message shows the type of a column.
std::string TypeText(const types::Field& field) {
  return (field.required ? "required " : "") + field.type.ToString();
}

/// What is wrong with the first column that is not as expected; empty if all are.
std::string Difference(const std::vector<types::Field>& fields,
                       const std::vector<types::Field>& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const types::Field& wanted = expected[i];
    if (std::ranges::count(fields, wanted.name, &types::Field::name) == 0) {
      return fmt::format("column '{}' is not there", wanted.name);
    }
    if (fields[i].name != wanted.name) {
      return fmt::format("column '{}' is not there as column {}", wanted.name, i + 1);
    }
    if (fields[i].type == wanted.type && fields[i].required == wanted.required) continue;
    return fmt::format("column '{}' is {}, not {}", wanted.name, TypeText(fields[i]),
                       TypeText(wanted));
  }
  if (fields.size() == expected.size()) return "";
  return fmt::format("column '{}' is one too many", fields[expected.size()].name);
}

}  // namespace

std::string_view PlaceOf(std::string_view reason) {
  const bool has_place = reason.starts_with("line ") || reason.starts_with("row ");
  const std::size_t end = reason.find(": ");
  if (!has_place || end == std::string_view::npos) return "";
  return reason.substr(0, end + 2);
}

std::string DeadLetterTable(std::string_view table) {
  return fmt::format("{}__dead_letters", table);
}

types::Schema DeadLetterSchema() {
  const auto field = [](std::string name, TypeKind kind, bool required) {
    return types::Field{
        .name = std::move(name), .type = Type(kind), .required = required};
  };
  return types::AssignFreshIds({.fields = {field("raw", TypeKind::kBinary, true),
                                           field("source", TypeKind::kString, false),
                                           field("position", TypeKind::kLong, true),
                                           field("reason", TypeKind::kString, true),
                                           field("time", TypeKind::kTimestamptz, true),
                                           field("format", TypeKind::kString, false)}});
}

Status CheckDeadLetterSchema(const types::Schema& schema) {
  const std::string difference = Difference(schema.fields, DeadLetterSchema().fields);
  if (difference.empty()) return Status::OK();
  return InvalidError(
      "the table of dead letters has other columns than raw, source, position, reason, "
      "time and format: {}; rename it, so that it is made anew",
      difference);
}

Result<std::shared_ptr<arrow::RecordBatch>> DeadLetterRows(
    const std::vector<DeadLetter>& letters, const types::Schema& schema, WallTime now) {
  FIRN_RETURN_NOT_OK(CheckDeadLetterSchema(schema));
  if (letters.empty()) return std::shared_ptr<arrow::RecordBatch>();
  RowBuilder rows;
  for (const DeadLetter& letter : letters) FIRN_RETURN_NOT_OK(rows.Append(letter, now));
  return rows.Finish(types::ToArrowSchema(schema));
}

Result<wal::Delivery> DeadLetterDelivery(const SourceBatch& batch,
                                         const types::Schema& schema, WallTime now) {
  wal::Delivery delivery = {.range = batch.delivery.range};
  FIRN_ASSIGN_OR_RETURN(delivery.rows, DeadLetterRows(batch.dead_letters, schema, now));
  if (delivery.rows != nullptr && delivery.range) {
    FIRN_ASSIGN_OR_RETURN(delivery.offsets, OffsetsOf(batch.dead_letters));
  }
  return delivery;
}

}  // namespace firn::sources
