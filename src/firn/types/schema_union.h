#pragma once

#include <cstdint>
#include <vector>

#include "firn/core/status.h"
#include "firn/types/schema.h"

namespace firn::types {

/// True if a column of type `from` may become `to` in a table of this format version
/// (Iceberg spec, "Schema Evolution"): IsPromotion and, from version 3 on, date to
/// timestamp or timestamp_ns. Also if both are equal.
bool MayBePromoted(const Type& from, const Type& to, std::int32_t format_version);

/// The nested type of `kind` over these fields: a list's one, a map's two.
Type TypeOver(TypeKind kind, std::vector<Field> fields);

/// The same fields, all optional at every level but for the keys of maps.
std::vector<Field> AllOptional(std::vector<Field> fields);

/// The table that a schema is of, as far as its evolution depends on it.
struct UnionOptions {
  std::int32_t format_version = 2;
  /// New fields get ids above it, each one's before those of the fields in it.
  FieldId last_column_id = 0;
};

/// `schema`, changed as little as it takes to hold rows of `wanted` (Iceberg spec,
/// "Schema Evolution").
///
/// Fields are matched by their exact name, at every level. One that is new goes behind
/// the others and is optional; a type becomes wanted's if that is wider; a required field
/// becomes optional if wanted's is. What `wanted` lacks stays as it is, so the result
/// holds rows of `schema` too, and the union of it with `wanted` is itself. Ids in
/// `wanted` count for nothing. Equal to `schema` if nothing has to change.
///
/// Invalid, naming the field, what is there, what is wanted and what to do, for what can
/// never be: another type, a new field that is required and has no default, one whose
/// name differs from another's only in case (of ASCII letters), a change in a map's key.
/// Pure.
Result<Schema> UnionByName(const Schema& schema, const Schema& wanted,
                           const UnionOptions& options);

}  // namespace firn::types
