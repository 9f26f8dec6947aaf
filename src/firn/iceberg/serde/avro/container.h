#pragma once

#include <cstdint>
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

/// A container file whose records are not looked at yet. Its views are of the bytes that
/// it was read from.
struct ContainerBlocks {
  struct Block {
    std::int64_t record_count = 0;
    /// Compressed, if the file is.
    std::string_view bytes;
  };
  /// With Avro's own entries, of which the schema is there, and the codec is known.
  std::map<std::string, std::string> metadata;
  std::vector<Block> blocks;

  const std::string& schema_json() const;
};

/// Reads the header of a container file, and where its blocks lie. Corruption if it is
/// malformed; Invalid for a codec but null, deflate, zstandard or snappy.
Result<ContainerBlocks> ReadBlocks(std::string_view bytes);

/// Writes an Avro object container file (Avro specification, "Object Container Files").
///
/// Bytes are a function of what was added. REQUIRES: as Encode.
class ContainerWriter {
 public:
  /// `metadata`: entries of the header beside Avro's own.
  ContainerWriter(SchemaPtr schema, Codec codec,
                  const std::map<std::string, std::string>& metadata);

  void Add(const Value& value);

  /// Whether `file` has this file's schema, to the letter, and codec.
  bool CanTakeOver(const ContainerBlocks& file) const;

  /// Adds all records of `file` without looking at them: blocks are copied as they are.
  /// Only the first one, if it is small, joins what was added before, so that a file that
  /// grows one record at a time keeps to large blocks. REQUIRES: CanTakeOver. Corruption
  /// if that first block is damaged.
  Status TakeOver(const ContainerBlocks& file);

  /// The whole file. Nothing may be added afterwards.
  std::string Finish();

 private:
  void FlushBlock();
  void WriteBlock(const ContainerBlocks::Block& block);

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

/// Reads a whole container file. Errors as ReadBlocks'; `is_read` as ParseSchema's.
Result<Container> ReadContainer(std::string_view bytes, FieldFilter is_read = nullptr);

}  // namespace firn::iceberg::avro
