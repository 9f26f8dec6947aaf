#include "firn/iceberg/serde/avro/container.h"

#include <utility>

#include "firn/iceberg/serde/block_codec.h"
#include "firn/iceberg/serde/deflate.h"

namespace firn::iceberg::avro {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kMagic = "Obj\1"sv;
constexpr std::size_t kSyncBytes = 16;
constexpr std::size_t kBlockBytes = 64 * 1024;
/// What one compressed block may hold: far above any writer's, to stop hostile files.
constexpr std::size_t kInflatedBytesMax = std::size_t{1} << 28;
constexpr const char* kSchemaKey = "avro.schema";
constexpr const char* kCodecKey = "avro.codec";

/// FNV-1a, so that one file's marker is unlikely to stand in another's data, and a file's
/// bytes depend on its content alone.
std::string SyncMarker(std::string_view header) {
  std::uint64_t hash = 0xcbf29ce484222325;
  std::string marker;
  while (marker.size() < kSyncBytes) {
    for (const char c : header) {
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    }
    for (int shift = 0; shift < 64; shift += 8) {
      marker.push_back(static_cast<char>(hash >> shift));
    }
  }
  return marker;
}

Status Damaged(std::string_view what) {
  return Error(ErrorKind::kCorruption, "Avro file: {}", what);
}

Result<std::map<std::string, std::string>> TakeMetadata(std::string_view& bytes) {
  static const Schema map{.kind = Kind::kMap, .parts = {Primitive(Kind::kBytes)}};
  FIRN_ASSIGN_OR_RETURN(Value value, Decode(map, bytes));
  Values& values = std::get<Values>(value.data);
  std::map<std::string, std::string> metadata;
  for (std::size_t i = 0; i + 1 < values.size(); i += 2) {
    metadata[std::get<std::string>(values[i].data)] =
        std::move(std::get<std::string>(values[i + 1].data));
  }
  return metadata;
}

using Decompress = Result<std::string> (*)(std::string_view block, std::size_t bytes_max);

const char* NameOf(Codec codec) { return codec == Codec::kNull ? "null" : "deflate"; }

std::string_view Find(const std::map<std::string, std::string>& metadata,
                      const char* key) {
  const auto found = metadata.find(key);
  return found == metadata.end() ? std::string_view() : found->second;
}

/// Null for blocks that are not compressed.
Result<Decompress> DecompressOf(const std::map<std::string, std::string>& metadata) {
  static const std::map<std::string, Decompress> codecs = {
      {"null", nullptr},
      {"deflate", InflateRaw},
      {"zstandard", DecompressZstandard},
      {"snappy", DecompressSnappy},
  };
  const auto named = metadata.find(kCodecKey);
  if (named == metadata.end()) return nullptr;
  const auto codec = codecs.find(named->second);
  if (codec != codecs.end()) return codec->second;
  return InvalidError(
      "Avro file: codec '{}' is not supported, only null, deflate, zstandard and snappy",
      named->second);
}

Result<ContainerBlocks::Block> TakeBlock(std::string_view sync, std::string_view& bytes) {
  ContainerBlocks::Block block;
  FIRN_ASSIGN_OR_RETURN(block.record_count, TakeLong(bytes));
  FIRN_ASSIGN_OR_RETURN(block.bytes, TakeBytes(bytes));
  if (!bytes.starts_with(sync)) return Damaged("a block has no sync marker behind it");
  bytes.remove_prefix(sync.size());
  return block;
}

Result<std::string> RecordsOf(const ContainerBlocks::Block& block,
                              Decompress decompress) {
  std::string records(decompress == nullptr ? block.bytes : std::string_view());
  if (decompress != nullptr) {
    FIRN_ASSIGN_OR_RETURN(records, decompress(block.bytes, kInflatedBytesMax));
  }
  // A record has at least one byte.
  const std::int64_t count = block.record_count;
  if (count < 0 || static_cast<std::uint64_t>(count) > records.size()) {
    return Damaged("a block holds fewer records than it says");
  }
  return records;
}

Status DecodeBlock(const ContainerBlocks::Block& block, Decompress decompress,
                   Container& container) {
  FIRN_ASSIGN_OR_RETURN(const std::string records, RecordsOf(block, decompress));
  std::string_view rest = records;
  for (std::int64_t i = 0; i < block.record_count; ++i) {
    FIRN_ASSIGN_OR_RETURN(Value value, Decode(*container.schema, rest));
    container.values.push_back(std::move(value));
  }
  if (!rest.empty()) return Damaged("a block holds more than its records");
  return Status::OK();
}

}  // namespace

ContainerWriter::ContainerWriter(SchemaPtr schema, Codec codec,
                                 const std::map<std::string, std::string>& metadata)
    : schema_(std::move(schema)), codec_(codec) {
  out_ = kMagic;
  AppendLong(static_cast<std::int64_t>(metadata.size()) + 2, out_);
  AppendBytes(kSchemaKey, out_);
  AppendBytes(ToJson(*schema_), out_);
  AppendBytes(kCodecKey, out_);
  AppendBytes(NameOf(codec_), out_);
  for (const auto& [key, value] : metadata) {
    AppendBytes(key, out_);
    AppendBytes(value, out_);
  }
  AppendLong(0, out_);
  sync_ = SyncMarker(out_);
  out_ += sync_;
}

void ContainerWriter::Add(const Value& value) {
  Encode(*schema_, value, block_);
  ++block_count_;
  if (block_.size() >= kBlockBytes) FlushBlock();
}

bool ContainerWriter::CanTakeOver(const ContainerBlocks& file) const {
  return Find(file.metadata, kSchemaKey) == ToJson(*schema_) &&
         Find(file.metadata, kCodecKey) == NameOf(codec_);
}

Status ContainerWriter::TakeOver(const ContainerBlocks& file) {
  FIRN_ASSIGN_OR_RETURN(const Decompress decompress, DecompressOf(file.metadata));
  bool is_first = true;
  for (const ContainerBlocks::Block& block : file.blocks) {
    if (std::exchange(is_first, false)) {
      FIRN_ASSIGN_OR_RETURN(const std::string records, RecordsOf(block, decompress));
      if (records.size() < kBlockBytes) {
        block_ += records;
        block_count_ += block.record_count;
        continue;
      }
    }
    FlushBlock();
    WriteBlock(block);
  }
  return Status::OK();
}

void ContainerWriter::WriteBlock(const ContainerBlocks::Block& block) {
  AppendLong(block.record_count, out_);
  AppendBytes(block.bytes, out_);
  out_ += sync_;
}

void ContainerWriter::FlushBlock() {
  if (block_count_ == 0) return;
  const std::string bytes =
      codec_ == Codec::kNull ? std::move(block_) : DeflateRaw(block_);
  WriteBlock({.record_count = block_count_, .bytes = bytes});
  block_.clear();
  block_count_ = 0;
}

std::string ContainerWriter::Finish() {
  FlushBlock();
  return std::move(out_);
}

Result<ContainerBlocks> ReadBlocks(std::string_view bytes) {
  if (!bytes.starts_with(kMagic)) return Damaged("does not start with Avro's magic");
  bytes.remove_prefix(kMagic.size());
  ContainerBlocks file;
  FIRN_ASSIGN_OR_RETURN(file.metadata, TakeMetadata(bytes));
  if (!file.metadata.contains(kSchemaKey)) return Damaged("the header has no schema");
  FIRN_RETURN_NOT_OK(DecompressOf(file.metadata).status());
  if (bytes.size() < kSyncBytes) return Damaged("the header ends early");
  const std::string_view sync = bytes.substr(0, kSyncBytes);
  bytes.remove_prefix(kSyncBytes);
  while (!bytes.empty()) {
    FIRN_ASSIGN_OR_RETURN(const ContainerBlocks::Block block, TakeBlock(sync, bytes));
    file.blocks.push_back(block);
  }
  return file;
}

const std::string& ContainerBlocks::schema_json() const {
  return metadata.at(kSchemaKey);
}

Result<Container> ReadContainer(std::string_view bytes, FieldFilter is_read) {
  FIRN_ASSIGN_OR_RETURN(ContainerBlocks file, ReadBlocks(bytes));
  Container container{
      .schema = nullptr, .metadata = std::move(file.metadata), .values = {}};
  FIRN_ASSIGN_OR_RETURN(container.schema,
                        ParseSchema(container.metadata[kSchemaKey], is_read));
  FIRN_ASSIGN_OR_RETURN(const Decompress decompress, DecompressOf(container.metadata));
  for (const ContainerBlocks::Block& block : file.blocks) {
    FIRN_RETURN_NOT_OK(DecodeBlock(block, decompress, container));
  }
  return container;
}

}  // namespace firn::iceberg::avro
