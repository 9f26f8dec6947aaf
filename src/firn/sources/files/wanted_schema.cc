#include "firn/sources/files/wanted_schema.h"

#include <algorithm>
#include <span>
#include <utility>

#include <arrow/type.h>

#include "firn/sources/files/column_cast.h"
#include "firn/sources/files/json_rows.h"
#include "firn/sources/files/rejected_records.h"
#include "firn/types/arrow_types.h"
#include "firn/types/default_value.h"
#include "firn/types/schema_union.h"

namespace firn::sources {
namespace {

using types::Field;
using types::Type;
using types::TypeKind;

/// Integers of text are as wide as those of a new table.
Type ForNewColumn(const Type& type) {
  if (type.kind() == TypeKind::kInt) return Type(TypeKind::kLong);
  if (type.is_primitive()) return type;
  std::vector<Field> fields = type.fields();
  for (Field& field : fields) field.type = ForNewColumn(field.type);
  return TypeOver(type.kind(), std::move(fields));
}

struct WishOptions {
  /// See InferredSchema.
  bool is_declared = false;
  std::int32_t format_version = 2;
  /// Whether a column of which a record has no value is to become optional.
  bool makes_optional = true;
};

/// What records want of a table, from what is seen of them.
class Wish {
 public:
  explicit Wish(WishOptions options) : options_(options) {}

  /// Fields of a struct, or of the table.
  std::vector<Field> Fields(const std::vector<Field>& there,
                            const std::vector<Field>& seen) const {
    std::vector<Field> wanted;
    for (const Field& field : seen) {
      const auto known = std::ranges::find(there, field.name, &Field::name);
      wanted.push_back(known == there.end() ? New(field) : Known(*known, field));
    }
    if (!options_.makes_optional) return wanted;
    for (const Field& field : there) {
      const bool is_seen = std::ranges::count(seen, field.name, &Field::name) > 0;
      const bool has_value = FindDefault(field, types::kWriteDefault) != nullptr;
      if (is_seen || has_value || !field.required) continue;
      wanted.push_back(field);
      wanted.back().required = false;
    }
    return wanted;
  }

 private:
  Field New(Field field) const {
    if (!options_.is_declared) field.type = ForNewColumn(field.type);
    return types::AllOptional({std::move(field)}).front();
  }

  Field Known(const Field& there, Field seen) const {
    seen.type = TypeFor(there.type, seen.type);
    if (!options_.makes_optional) seen.required = there.required;
    return seen;
  }

  Type TypeFor(const Type& there, const Type& seen) const {
    if (!there.is_primitive() && there.kind() == seen.kind()) {
      return NestedFor(there, seen);
    }
    if (options_.is_declared) return DeclaredFor(there, seen);
    // An object of a map's entries looks like a struct.
    const bool is_entries =
        there.kind() == TypeKind::kMap && seen.kind() == TypeKind::kStruct;
    if (is_entries) return MapFor(there, seen.fields());
    const bool is_beyond_int =
        there.kind() == TypeKind::kInt && seen.kind() == TypeKind::kLong;
    return is_beyond_int ? seen : there;
  }

  Type DeclaredFor(const Type& there, const Type& seen) const {
    const bool is_primitive = there.is_primitive() && seen.is_primitive();
    if (!is_primitive || MayBePromoted(there, seen, options_.format_version)) {
      return seen;
    }
    return MayBecome(*types::ToArrowType(seen), there) ? there : seen;
  }

  Type NestedFor(const Type& there, const Type& seen) const {
    if (there.kind() == TypeKind::kStruct) {
      return Type::Struct(Fields(there.fields(), seen.fields()));
    }
    std::vector<Field> fields = seen.fields();
    for (std::size_t i = 0; i < fields.size(); ++i) {
      fields[i] = Known(there.fields()[i], fields[i]);
    }
    return TypeOver(there.kind(), std::move(fields));
  }

  /// Entries of a map are there or not: how many records have one says nothing.
  Type MapFor(const Type& there, const std::vector<Field>& entries) const {
    std::vector<Field> fields = there.fields();
    types::Schema value = {.fields = {fields[1]}};
    for (const Field& entry : entries) {
      Field wanted = Known(value.fields[0], entry);
      wanted.name = value.fields[0].name;
      wanted.required = value.fields[0].required;
      auto both = UnionByName(value, {.fields = {wanted}},
                              {.format_version = options_.format_version,
                               .last_column_id = types::HighestFieldId(value)});
      // What cannot be is refused once the whole is united with the table.
      value = both.ok() ? *std::move(both) : types::Schema{.fields = {wanted}};
    }
    fields[1] = std::move(value.fields[0]);
    return TypeOver(TypeKind::kMap, std::move(fields));
  }

  const WishOptions options_;
};

Result<types::Schema> United(const types::Schema& schema, const types::Schema& seen,
                             const WishOptions& options) {
  return UnionByName(schema, {.fields = Wish(options).Fields(schema.fields, seen.fields)},
                     {.format_version = options.format_version,
                      .last_column_id = types::HighestFieldId(schema)});
}

/// Of those records that a body of many is looked at one by one.
constexpr std::size_t kSingleRecordsMax = 1000;
constexpr std::size_t kRowsAtOnce = 1000;

Result<types::Schema> UnitedWithRecords(const types::Schema& schema,
                                        std::span<const std::string_view> records,
                                        const TimeUnits& units) {
  SchemaInference inference(units, InferenceDetail::kAsSeen);
  for (const std::string_view record : records) {
    FIRN_RETURN_NOT_OK(inference.AddJson(record));
  }
  FIRN_ASSIGN_OR_RETURN(const InferredSchema seen, inference.Finish());
  return United(schema, seen.schema, {.makes_optional = false});
}

std::size_t CountFields(const std::vector<Field>& fields) {
  std::size_t count = fields.size();
  for (const Field& field : fields) count += CountFields(field.type.fields());
  return count;
}

/// Of those, the records that have a row in `schema`.
Result<std::vector<std::string_view>> ThatFit(
    const types::Schema& schema, const std::vector<std::string_view>& records,
    const TimeUnits& units) {
  std::vector<std::string_view> fit;
  FIRN_ASSIGN_OR_RETURN(JsonRows rows, JsonRows::Make(schema, {.time_units = units}));
  for (std::size_t begin = 0; begin < records.size(); begin += kRowsAtOnce) {
    const auto some =
        std::span(records).subspan(begin, std::min(kRowsAtOnce, records.size() - begin));
    for (const std::string_view record : some) FIRN_RETURN_NOT_OK(rows.Add(record));
    Rejections rejections;
    FIRN_RETURN_NOT_OK(rows.Finish(rejections).status());
    for (const std::int64_t row : RowsThatFit(std::ssize(some), rejections)) {
      fit.push_back(some[static_cast<std::size_t>(row)]);
    }
  }
  return fit;
}

/// Records that cannot be united are passed over.
types::Schema UnitedOneByOne(types::Schema schema,
                             std::span<const std::string_view> records,
                             const TimeUnits& units) {
  const std::size_t count = std::min(records.size(), kSingleRecordsMax);
  for (std::size_t i = 0; i < count; ++i) {
    auto united = UnitedWithRecords(schema, records.subspan(i, 1), units);
    if (united.ok()) schema = *std::move(united);
  }
  return schema;
}

}  // namespace

Result<types::Schema> FindWantedSchema(const FilesForTable& table,
                                       const FileOptions& options, const StopToken& stop,
                                       const InferenceProgress& progress) {
  types::Schema wanted = table.schema;
  for (const std::string& file : table.files) {
    FIRN_ASSIGN_OR_RETURN(
        const InferredSchema seen,
        InferSchema({file}, options, stop, progress, InferenceDetail::kAsSeen));
    if (seen.schema.fields.empty()) continue;  // no record, so none that lacks a value
    auto both =
        United(wanted, seen.schema,
               {.is_declared = seen.is_declared, .format_version = table.format_version});
    FIRN_RETURN_NOT_OK(AddContext(both.status(), file));
    wanted = *std::move(both);
  }
  return wanted;
}

types::Schema SchemaForRecords(const types::Schema& schema,
                               const std::vector<std::string_view>& records,
                               const TimeUnits& units) {
  auto united = UnitedWithRecords(schema, records, units);
  if (!united.ok()) united = UnitedOneByOne(schema, records, units);
  if (*united == schema) return schema;
  const auto fit = ThatFit(*united, records, units);
  if (!fit.ok() || fit->empty()) return schema;
  united = UnitedWithRecords(schema, *fit, units);
  const bool is_good = united.ok() && CountFields(united->fields) <= kStreamFieldsMax;
  return is_good ? *std::move(united) : schema;
}

}  // namespace firn::sources
