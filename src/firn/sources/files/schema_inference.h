#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/type_fwd.h>

#include "firn/core/status.h"
#include "firn/sources/files/json_cursor.h"
#include "firn/sources/files/text_types.h"
#include "firn/sources/files/time_units.h"
#include "firn/types/schema.h"

namespace firn::sources {

struct InferredSchema {
  /// With field ids from 1.
  types::Schema schema;
  /// What a person should know of it, a sentence each.
  std::vector<std::string> notes;
  /// True if the files say the types themselves, false if they were told from values.
  bool is_declared = false;
};

/// "line 9 of a.csv".
using PlaceOfRow = std::function<std::string(std::int64_t row)>;

enum class InferenceDetail {
  /// Integers are longs, and every column is optional: what comes later must fit.
  kForNewTable,
  /// A column of integers that all are ints is an int, and one that has a value in every
  /// record is required.
  kAsSeen,
};

/// Finds the narrowest schema for columns of text or JSON records, from all of their
/// values.
///
/// A column of text becomes the first of long, double, boolean, date, timestamptz and
/// timestamp that every value is a text of (ValueFromText; "t" and "f" are no booleans
/// here); without any value, or if none fits, string. Zones decide between the two
/// timestamps; dates among timestamps without zone are timestamps. A column that has a
/// usual spelling of null ("NA") is a string, and a note tells of --null-value; another
/// note tells of the few values that make a string of a column. Empty texts (quoted ones)
/// tell nothing: only a string takes them. What a
/// number would not give back stays a string: leading zeros ("007"), and integers too
/// long for a long or, among fractions, for a double. A column whose unit of time is
/// declared is a timestamptz.
///
/// A field of JSON becomes the same from its strings or its numbers, but numbers in
/// strings stay strings; an object becomes a struct, an array a list. Where kinds are
/// mixed, it is a string that takes each value's JSON text, and a note says so. A field
/// that has only null, [] and {} tells no type: it is left out, with a note, and the two
/// brackets tell nothing of others either.
class SchemaInference {
 public:
  explicit SchemaInference(TimeUnits units,
                           InferenceDetail detail = InferenceDetail::kForNewTable)
      : units_(std::move(units)), detail_(detail) {}

  /// Takes into account that there are columns of text, whatever they hold.
  void AddColumns(const arrow::Schema& columns);

  /// Takes rows into account. Columns are matched by name; new ones are added behind the
  /// others. `place` tells where a row stands. REQUIRES: all columns are utf8.
  void AddTexts(const arrow::RecordBatch& rows, const PlaceOfRow& place);

  /// Takes a JSON record into account; one that is no object is passed over, since it
  /// cannot be read either. Invalid if there are too many fields for columns: names that
  /// are data.
  Status AddJson(std::string_view document);

  /// Invalid if there is no column, or names are no good (see CheckColumnNames).
  Result<InferredSchema> Finish() const;

 private:
  /// What was seen of a column or field.
  struct Seen {
    explicit Seen(std::string name) : name(std::move(name)) {}

    /// True if a value tells a type: is anything but null, [] and {}, at any depth.
    bool Tells() const;
    bool HasObjects() const;
    bool HasArrays() const;

    std::string name;
    /// A CSV file has it, with or without values.
    bool is_text_column = false;
    bool has_booleans = false;
    /// Of the texts and the numbers, once there is one.
    std::optional<TextTypes> texts;
    std::optional<TextTypes> numbers;
    /// Other values than null.
    std::int64_t values = 0;
    /// Of those of a CSV file, the empty ones: null where the column is no string.
    std::int64_t empty_texts = 0;
    /// The first text that other programs mean null by ("NA"); empty if there is none.
    std::string null_spelling;
    /// Of the objects.
    std::vector<Seen> fields;
    std::int64_t object_count = 0;
    /// Of the arrays: nothing or one.
    std::vector<Seen> elements;
    std::int64_t element_count = 0;
  };
  class Resolution;

  Seen& Field(std::vector<Seen>& fields, std::string_view name, std::size_t guess);
  Status AddFields(JsonCursor& cursor, std::vector<Seen>& fields);
  Status AddValue(JsonCursor& cursor, Seen& seen);
  Status AddElements(JsonCursor& cursor, Seen& seen);
  TextTypes& TypesIn(std::optional<TextTypes>& types, std::uint32_t kinds) const;

  TimeUnits units_;
  InferenceDetail detail_;
  std::vector<Seen> columns_;
  std::size_t field_count_ = 0;
  std::int64_t record_count_ = 0;
};

}  // namespace firn::sources
