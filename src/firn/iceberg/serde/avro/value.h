#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "firn/core/ids.h"
#include "firn/core/status.h"
#include "firn/iceberg/serde/avro/schema.h"

namespace firn::iceberg::avro {

struct Value;

/// Values of a record, an array, or a map (key, value, key, value, ...).
using Values = std::vector<Value>;

/// A decoded value. int, long and enum: int64; bytes, string and fixed: std::string;
/// a union: the value of its branch, std::monostate being null. Fields that are carried
/// verbatim: Kind::kVerbatim.
struct Value {
  std::variant<std::monostate, bool, std::int64_t, float, double, std::string, Values>
      data;

  bool is_null() const { return data.index() == 0; }
};

/// Appends `value` in Avro's binary form. REQUIRES: it fits `schema`; in a union, null is
/// the first branch and everything else the second; of a field that is carried verbatim,
/// null is a value.
void Encode(const Schema& schema, const Value& value, std::string& out);

/// Takes one value off the front of `bytes`. Corruption, naming the field, if they end
/// early, contradict `schema`, or hold a string that is not UTF-8.
Result<Value> Decode(const Schema& schema, std::string_view& bytes);

/// Avro's variable-length zigzag integer, and bytes with their length in front.
void AppendLong(std::int64_t value, std::string& out);
void AppendBytes(std::string_view value, std::string& out);
Result<std::int64_t> TakeLong(std::string_view& bytes);
Result<std::string_view> TakeBytes(std::string_view& bytes);

/// Reads a record by Iceberg field id, else (a schema without ids) by name. Fields that
/// nobody asks for are skipped by that.
class RecordReader {
 public:
  /// `path` names the record in messages. `schema` and `value` must outlive the reader.
  RecordReader(const Schema& schema, const Value& value, std::string_view path)
      : schema_(schema), value_(value), path_(path) {}

  /// Null if the record has no such field, or its value is null. `type`, if given,
  /// receives the field's schema without the union around it.
  const Value* Find(FieldId id, std::string_view name, const Schema** type = nullptr);

  /// The field's value, if it is a `T`; `fallback` if there is none.
  template <typename T>
  T Get(FieldId id, std::string_view name, T fallback) {
    const Value* value = Find(id, name);
    if (value == nullptr) return fallback;
    if (const T* typed = std::get_if<T>(&value->data)) return *typed;
    Fail(name, "has another type");
    return fallback;
  }

  /// As Get; a missing value is Corruption.
  template <typename T>
  T Require(FieldId id, std::string_view name) {
    if (Find(id, name) == nullptr) Fail(name, "is missing");
    return Get<T>(id, name, T());
  }

  /// The first failure.
  const Status& status() const { return status_; }
  void Fail(std::string_view name, std::string_view what);

 private:
  const Schema& schema_;
  const Value& value_;
  const std::string_view path_;
  Status status_;
};

}  // namespace firn::iceberg::avro
