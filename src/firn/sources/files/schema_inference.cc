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
#include "firn/sources/files/value_text.h"
#include "firn/types/column_list.h"

namespace firn::sources {
namespace {

using types::Type;
using types::TypeKind;

constexpr std::array kByPreference = {
    TypeKind::kInt,  TypeKind::kLong,        TypeKind::kDouble,   TypeKind::kBoolean,
    TypeKind::kDate, TypeKind::kTimestamptz, TypeKind::kTimestamp};
constexpr std::uint32_t kTextCandidates = 0b1111111;
constexpr std::uint32_t kJsonNumberCandidates = 0b0000111;
constexpr std::uint32_t kJsonTextCandidates = 0b1110000;
constexpr std::uint32_t kIntCandidate = 0b0000001;
/// Every integer of so many digits is a double.
constexpr std::size_t kDoubleDigits = 15;
/// More fields are most likely names that are data, the keys of a map.
constexpr std::size_t kFieldsMax = 10'000;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::string_view WithoutSign(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return text;
}

bool HasLeadingZero(std::string_view number) {
  return number.size() > 1 && number[0] == '0' && IsDigit(number[1]);
}

/// True if a column of this type may hold `text` and give back what it says.
bool Fits(TypeKind kind, std::string_view text) {
  const bool is_integer = kind == TypeKind::kInt || kind == TypeKind::kLong;
  const bool is_number = is_integer || kind == TypeKind::kDouble;
  const std::string_view number = WithoutSign(text);
  if (is_number && HasLeadingZero(number)) return false;
  const bool is_long_integer =
      number.size() > kDoubleDigits && std::ranges::all_of(number, IsDigit);
  if (kind == TypeKind::kDouble && is_long_integer) return false;
  // Only a double has a zero with a sign.
  if (is_integer && text == "-0") return false;
  // "t" is taken where a boolean is declared, but may well be a letter.
  if (kind == TypeKind::kBoolean && text.size() == 1) return false;
  return ValueFromText(Type(kind), text).ok();
}

/// What other programs write for null, and Firn reads as null only if it is told to.
bool IsNullSpelling(std::string_view text) {
  constexpr std::array<std::string_view, 9> kSpellings = {
      "NA", "N/A", "n/a", "NULL", "null", "None", "\\N", "-", "?"};
  return std::ranges::count(kSpellings, text) > 0;
}

std::uint32_t Narrowed(std::uint32_t candidates, std::string_view text) {
  for (std::size_t i = 0; i < kByPreference.size(); ++i) {
    const std::uint32_t bit = 1u << i;
    if ((candidates & bit) != 0 && !Fits(kByPreference[i], text)) candidates &= ~bit;
  }
  return candidates;
}

Type Preferred(std::uint32_t candidates) {
  for (std::size_t i = 0; i < kByPreference.size(); ++i) {
    if ((candidates & 1u << i) != 0) return Type(kByPreference[i]);
  }
  return Type(TypeKind::kString);
}

}  // namespace

bool SchemaInference::Seen::HasObjects() const {
  return std::ranges::any_of(fields, &Seen::Tells);
}

bool SchemaInference::Seen::HasArrays() const {
  return std::ranges::any_of(elements, &Seen::Tells);
}

bool SchemaInference::Seen::Tells() const {
  return has_texts || has_numbers || has_booleans || HasObjects() || HasArrays();
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
                          .required = IsAlwaysThere(field, records)});
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
  bool IsAlwaysThere(const Seen& seen, std::int64_t of) const {
    return detail_ == InferenceDetail::kAsSeen && seen.values >= of;
  }

  /// Nothing if no value tells.
  Result<std::optional<Type>> TypeOf(const Seen& seen, const std::string& path) {
    if (TimeUnitOf(units_, path)) return Type(TypeKind::kTimestamptz);
    const int kinds = seen.has_texts + seen.has_numbers + seen.has_booleans +
                      seen.HasObjects() + seen.HasArrays();
    if (kinds > 1) return Mixed(seen, path);
    if (seen.HasObjects()) return StructOf(seen, path);
    if (seen.HasArrays()) return ListOf(seen, path);
    if (seen.has_booleans) return Type(TypeKind::kBoolean);
    if (seen.has_texts) return TextOf(seen, path);
    if (!seen.has_numbers) {
      if (seen.is_text_column) return Type(TypeKind::kString);
      return std::nullopt;
    }
    if (seen.number_candidates == 0) {
      notes_.push_back(
          fmt::format("'{}' has numbers too large to be exact, so it is a string", path));
    }
    return Preferred(seen.number_candidates);
  }

  /// A spelling of null makes a string of what it stands in.
  Type TextOf(const Seen& seen, const std::string& path) {
    const Type type = Preferred(seen.text_candidates);
    if (seen.null_spelling.empty() || type.kind() == TypeKind::kString) return type;
    notes_.push_back(
        fmt::format("'{0}' has '{1}' beside values of type {2}, so it is a string; "
                    "--null-value '{1}' reads that as null",
                    path, seen.null_spelling, type.ToString()));
    return Type(TypeKind::kString);
  }

  std::optional<Type> Mixed(const Seen& seen, const std::string& path) {
    std::vector<std::string_view> kinds;
    if (seen.has_texts) kinds.push_back("strings");
    if (seen.has_numbers) kinds.push_back("numbers");
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
        {.type = *type, .required = IsAlwaysThere(seen.elements[0], seen.element_count)});
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

std::uint32_t SchemaInference::Candidates(std::uint32_t all) const {
  return detail_ == InferenceDetail::kAsSeen ? all : all & ~kIntCandidate;
}

void SchemaInference::AddTexts(const arrow::RecordBatch& rows) {
  AddColumns(*rows.schema());
  record_count_ += rows.num_rows();
  for (int i = 0; i < rows.num_columns(); ++i) {
    Seen& column =
        Field(columns_, rows.schema()->field(i)->name(), static_cast<std::size_t>(i));
    const auto& texts = static_cast<const arrow::StringArray&>(*rows.column(i));
    column.values += texts.length() - texts.null_count();
    for (std::int64_t row = 0; row < texts.length(); ++row) {
      if (texts.IsNull(row)) continue;
      if (IsNullSpelling(texts.GetView(row))) {
        if (column.null_spelling.empty()) column.null_spelling = texts.GetView(row);
        continue;
      }
      if (!std::exchange(column.has_texts, true)) {
        column.text_candidates = Candidates(kTextCandidates);
      }
      if (column.text_candidates == 0) break;
      column.text_candidates = Narrowed(column.text_candidates, texts.GetView(row));
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
      if (!std::exchange(seen.has_numbers, true)) {
        seen.number_candidates = Candidates(kJsonNumberCandidates);
      }
      seen.number_candidates = Narrowed(seen.number_candidates, number);
      return Status::OK();
    }
    case JsonKind::kString: {
      FIRN_ASSIGN_OR_RETURN(const std::string_view text, cursor.String());
      if (!std::exchange(seen.has_texts, true)) {
        seen.text_candidates = kJsonTextCandidates;
      }
      seen.text_candidates = Narrowed(seen.text_candidates, text);
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
