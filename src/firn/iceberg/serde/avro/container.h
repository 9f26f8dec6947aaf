#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "firn/core/status.h"
#include "firn/iceberg/serde/avro/schema.h"
#include "firn/iceberg/serde/avro/value.h"

namespace firn::iceberg::avro {

/// What a file is written with.
enum class Codec : std::uint8_t { kNull, kDeflate };

/// Writes an Avro object container file (Avro specification, "Object Container Files").
///
/// Bytes are a function of what was added. REQUIRES: as Encode.
class ContainerWriter {
 public:
  /// `metadata`: entries of the header beside Avro's own.
  ContainerWriter(SchemaPtr schema, Codec codec,
                  const std::map<std::string, std::string>& metadata);

  void Add(const Value& value);

  /// The whole file. Nothing may be added afterwards.
  std::string Finish();

 private:
  void FlushBlock();

  const SchemaPtr schema_;
  const Codec codec_;
  std::string sync_;
  std::string out_;
  std::string block_;
  std::int64_t block_count_ = 0;
};

struct Container {
  SchemaPtr schema;
  std::map<std::string, std::string> metadata;
  /// Each fits `schema`.
  std::vector<Value> values;
};

/// Reads a whole container file, codec null, deflate, zstandard or snappy. Corruption if
/// it is malformed; Invalid for another codec.
Result<Container> ReadContainer(std::string_view bytes);

}  // namespace firn::iceberg::avro
