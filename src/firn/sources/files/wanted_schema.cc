#include "firn/sources/files/wanted_schema.h"

#include <algorithm>
#include <utility>

#include <arrow/type.h>

#include "firn/sources/files/column_cast.h"
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

/// What one file wants of a table, from what is seen of it.
class Wish {
 public:
  /// `is_declared`: see InferredSchema.
  explicit Wish(bool is_declared, std::int32_t format_version)
      : is_declared_(is_declared), format_version_(format_version) {}

  /// Fields of a struct, or of the table.
  std::vector<Field> Fields(const std::vector<Field>& there,
                            const std::vector<Field>& seen) const {
    std::vector<Field> wanted;
    for (const Field& field : seen) {
      const auto known = std::ranges::find(there, field.name, &Field::name);
      wanted.push_back(known == there.end() ? New(field) : Known(*known, field));
    }
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
    if (!is_declared_) field.type = ForNewColumn(field.type);
    return types::AllOptional({std::move(field)}).front();
  }

  Field Known(const Field& there, Field seen) const {
    seen.type = TypeFor(there.type, seen.type);
    return seen;
  }

  Type TypeFor(const Type& there, const Type& seen) const {
    if (!there.is_primitive() && there.kind() == seen.kind()) {
      return NestedFor(there, seen);
    }
    if (is_declared_) return DeclaredFor(there, seen);
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
    if (!is_primitive || MayBePromoted(there, seen, format_version_)) return seen;
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
                              {.format_version = format_version_,
                               .last_column_id = types::HighestFieldId(value)});
      // What cannot be is refused once the whole is united with the table.
      value = both.ok() ? *std::move(both) : types::Schema{.fields = {wanted}};
    }
    fields[1] = std::move(value.fields[0]);
    return TypeOver(TypeKind::kMap, std::move(fields));
  }

  const bool is_declared_;
  const std::int32_t format_version_;
};

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
    const Wish wish(seen.is_declared, table.format_version);
    auto both =
        UnionByName(wanted, {.fields = wish.Fields(wanted.fields, seen.schema.fields)},
                    {.format_version = table.format_version,
                     .last_column_id = types::HighestFieldId(wanted)});
    FIRN_RETURN_NOT_OK(AddContext(both.status(), file));
    wanted = *std::move(both);
  }
  return wanted;
}

}  // namespace firn::sources
