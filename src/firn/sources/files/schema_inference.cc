#include "firn/sources/files/schema_inference.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <arrow/array/array_binary.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/util/utf8.h>

#include "firn/sources/files/column_names.h"
#include "firn/types/column_list.h"

namespace firn::sources {
namespace {

using types::Type;
using types::TypeKind;

/// More fields are most likely names that are data, the keys of a map.
constexpr std::size_t kFieldsMax = 10'000;

/// What other programs write for null, and Firn reads as null only if it is told to.
bool IsNullSpelling(std::string_view text) {
  constexpr std::array<std::string_view, 9> kSpellings = {
      "NA", "N/A", "n/a", "NULL", "null", "None", "\\N", "-", "?"};
  return std::ranges::count(kSpellings, text) > 0;
}

}  // namespace

bool SchemaInference::Seen::HasObjects() const {
  return std::ranges::any_of(fields, &Seen::Tells);
}

bool SchemaInference::Seen::HasArrays() const {
  return std::ranges::any_of(elements, &Seen::Tells);
}

bool SchemaInference::Seen::Tells() const {
  return texts || numbers || has_booleans || HasObjects() || HasArrays();
}

/// Decides on types, from the top down.
class SchemaInference::Resolution {
 public:
  Resolution(const TimeUnits& units, InferenceDetail detail)
      : units_(units), detail_(detail) {}

  /// `records`: how many could have each of the fields.
  Result<std::vector<types::Field>> Fields(const std::vector<Seen>& seen,
                                           std::int64_t records,
                                           const std::string& prefix) {
    std::vector<types::Field> fields;
    for (const Seen& field : seen) {
      const std::string path = prefix + field.name;
      FIRN_ASSIGN_OR_RETURN(const std::optional<Type> type, TypeOf(field, path));
      if (type) {
        fields.push_back({.name = field.name,
                          .type = *type,
                          .required = IsAlwaysThere(field, *type, records)});
      } else {
        notes_.push_back(fmt::format(
            "'{}' is null or empty in every record, so there is no column for it", path));
      }
    }
    FIRN_RETURN_NOT_OK(CheckColumnNames(ColumnNames(fields)));
    return fields;
  }

  std::vector<std::string> TakeNotes() { return std::move(notes_); }

 private:
  bool IsAlwaysThere(const Seen& seen, const Type& type, std::int64_t of) const {
    const std::int64_t nulls = type.kind() == TypeKind::kString ? 0 : seen.empty_texts;
    return detail_ == InferenceDetail::kAsSeen && seen.values - nulls >= of;
  }

  /// Nothing if no value tells.
  Result<std::optional<Type>> TypeOf(const Seen& seen, const std::string& path) {
    if (TimeUnitOf(units_, path)) return Type(TypeKind::kTimestamptz);
    const int kinds = seen.texts.has_value() + seen.numbers.has_value() +
                      seen.has_booleans + seen.HasObjects() + seen.HasArrays();
    if (kinds > 1) return Mixed(seen, path);
    if (seen.HasObjects()) return StructOf(seen, path);
    if (seen.HasArrays()) return ListOf(seen, path);
    if (seen.has_booleans) return Type(TypeKind::kBoolean);
    if (seen.texts) return TextOf(seen, path);
    if (!seen.numbers) {
      if (seen.is_text_column) return Type(TypeKind::kString);
      return std::nullopt;
    }
    const Type type = seen.numbers->Preferred();
    if (type.kind() == TypeKind::kString) {
      notes_.push_back(
          fmt::format("'{}' has numbers too large to be exact, so it is a string", path));
    }
    return type;
  }

  /// A spelling of null makes a string of what it stands in.
  Type TextOf(const Seen& seen, const std::string& path) {
    const Type type = seen.texts->Preferred();
    const std::string why = seen.texts->WhyString();
    if (!why.empty()) notes_.push_back(fmt::format("'{}' {}", path, why));
    if (seen.null_spelling.empty() || type.kind() == TypeKind::kString) return type;
    notes_.push_back(
        fmt::format("'{0}' has '{1}' beside values of type {2}, so it is a string; "
                    "--null-value '{1}' reads that as null",
                    path, seen.null_spelling, type.ToString()));
    return Type(TypeKind::kString);
  }

  std::optional<Type> Mixed(const Seen& seen, const std::string& path) {
    std::vector<std::string_view> kinds;
    if (seen.texts) kinds.push_back("strings");
    if (seen.numbers) kinds.push_back("numbers");
    if (seen.has_booleans) kinds.push_back("booleans");
    if (seen.HasObjects()) kinds.push_back("objects");
    if (seen.HasArrays()) kinds.push_back("arrays");
    notes_.push_back(fmt::format(
        "'{}' has {}, so it is a string that holds the JSON text of what is no string",
        path, fmt::join(kinds, " and ")));
    return Type(TypeKind::kString);
  }

  Result<std::optional<Type>> StructOf(const Seen& seen, const std::string& path) {
    FIRN_ASSIGN_OR_RETURN(std::vector<types::Field> fields,
                          Fields(seen.fields, seen.object_count, path + "."));
    return Type::Struct(std::move(fields));
  }

  Result<std::optional<Type>> ListOf(const Seen& seen, const std::string& path) {
    FIRN_ASSIGN_OR_RETURN(const std::optional<Type> type,
                          TypeOf(seen.elements[0], path + ".element"));
    return Type::List(
        {.type = *type,
         .required = IsAlwaysThere(seen.elements[0], *type, seen.element_count)});
  }

  const TimeUnits& units_;
  const InferenceDetail detail_;
  std::vector<std::string> notes_;
};

SchemaInference::Seen& SchemaInference::Field(std::vector<Seen>& fields,
                                              std::string_view name, std::size_t guess) {
  if (guess < fields.size() && fields[guess].name == name) return fields[guess];
  const auto found = std::ranges::find(fields, name, &Seen::name);
  if (found != fields.end()) return *found;
  ++field_count_;
  return fields.emplace_back(std::string(name));
}

void SchemaInference::AddColumns(const arrow::Schema& columns) {
  for (int i = 0; i < columns.num_fields(); ++i) {
    Field(columns_, columns.field(i)->name(), static_cast<std::size_t>(i))
        .is_text_column = true;
  }
}

TextTypes& SchemaInference::TypesIn(std::optional<TextTypes>& types,
                                    std::uint32_t kinds) const {
  if (types) return *types;
  const bool is_as_seen = detail_ == InferenceDetail::kAsSeen;
  return types.emplace(is_as_seen ? kinds : kinds & ~TextTypes::kIntBit,
                       /*explains=*/!is_as_seen);
}

void SchemaInference::AddTexts(const arrow::RecordBatch& rows, const PlaceOfRow& place) {
  AddColumns(*rows.schema());
  record_count_ += rows.num_rows();
  for (int i = 0; i < rows.num_columns(); ++i) {
    Seen& column =
        Field(columns_, rows.schema()->field(i)->name(), static_cast<std::size_t>(i));
    const auto& texts = static_cast<const arrow::StringArray&>(*rows.column(i));
    column.values += texts.length() - texts.null_count();
    for (std::int64_t row = 0; row < texts.length(); ++row) {
      if (texts.IsNull(row)) continue;
      const std::string_view text = texts.GetView(row);
      if (text.empty()) {
        ++column.empty_texts;
      } else if (!IsNullSpelling(text)) {
        TypesIn(column.texts, TextTypes::kAll).Add(text, [&] { return place(row); });
      } else if (column.null_spelling.empty()) {
        column.null_spelling = text;
      }
    }
  }
}

Status SchemaInference::AddJson(std::string_view document) {
  arrow::util::InitializeUTF8();
  if (!arrow::util::ValidateUTF8(document)) return Status::OK();
  JsonCursor check(document);
  const Result<JsonKind> kind = check.Peek();
  if (!kind.ok() || *kind != JsonKind::kObject) return Status::OK();
  if (!check.Skip().ok() || !check.Finish().ok()) return Status::OK();
  ++record_count_;
  JsonCursor cursor(document);
  FIRN_RETURN_NOT_OK(AddFields(cursor, columns_));
  if (field_count_ <= kFieldsMax) return Status::OK();
  return InvalidError(
      "there are more than {} fields; declare those whose names are data "
      "as maps, with --schema",
      kFieldsMax);
}

Status SchemaInference::AddFields(JsonCursor& cursor, std::vector<Seen>& fields) {
  FIRN_RETURN_NOT_OK(cursor.EnterObject());
  for (std::size_t i = 0;; ++i) {
    FIRN_ASSIGN_OR_RETURN(const auto key, cursor.NextKey());
    if (!key) return Status::OK();
    FIRN_RETURN_NOT_OK(AddValue(cursor, Field(fields, *key, i)));
  }
}

Status SchemaInference::AddElements(JsonCursor& cursor, Seen& seen) {
  FIRN_RETURN_NOT_OK(cursor.EnterArray());
  while (true) {
    FIRN_ASSIGN_OR_RETURN(const bool has_element, cursor.NextElement());
    if (!has_element) return Status::OK();
    if (seen.elements.empty()) seen.elements.emplace_back("element");
    ++seen.element_count;
    FIRN_RETURN_NOT_OK(AddValue(cursor, seen.elements[0]));
  }
}

Status SchemaInference::AddValue(JsonCursor& cursor, Seen& seen) {
  FIRN_ASSIGN_OR_RETURN(const JsonKind kind, cursor.Peek());
  if (kind == JsonKind::kNull) return cursor.Null();
  ++seen.values;
  switch (kind) {
    case JsonKind::kNull:
      break;
    case JsonKind::kBoolean:
      seen.has_booleans = true;
      return cursor.Boolean().status();
    case JsonKind::kNumber: {
      FIRN_ASSIGN_OR_RETURN(const std::string_view number, cursor.Number());
      TypesIn(seen.numbers, TextTypes::kNumbers).Add(number, nullptr);
      return Status::OK();
    }
    case JsonKind::kString: {
      FIRN_ASSIGN_OR_RETURN(const std::string_view text, cursor.String());
      TypesIn(seen.texts, TextTypes::kTimes).Add(text, nullptr);
      return Status::OK();
    }
    case JsonKind::kArray:
      return AddElements(cursor, seen);
    case JsonKind::kObject:
      ++seen.object_count;
      return AddFields(cursor, seen.fields);
  }
  return Status::OK();
}

Result<InferredSchema> SchemaInference::Finish() const {
  Resolution resolution(units_, detail_);
  InferredSchema inferred;
  FIRN_ASSIGN_OR_RETURN(inferred.schema.fields,
                        resolution.Fields(columns_, record_count_, ""));
  if (inferred.schema.fields.empty() && detail_ == InferenceDetail::kForNewTable) {
    return InvalidError(
        "no record tells a column: none is a JSON object with a field that is not null; "
        "say what the file is with --format");
  }
  inferred.schema = types::AssignFreshIds(std::move(inferred.schema));
  inferred.notes = resolution.TakeNotes();
  return inferred;
}

}  // namespace firn::sources
