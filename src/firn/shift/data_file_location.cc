#include "firn/shift/data_file_location.h"

#include <cstdint>
#include <vector>

#include "firn/iceberg/metadata/dropped_columns.h"
#include "firn/iceberg/metadata/table_properties.h"
#include "firn/types/murmur3.h"

namespace firn::shift {
namespace {

/// File systems take 255 bytes. A folder may hold the files of several partitions: names
/// of files are unique without it.
constexpr std::size_t kFolderNameBytesMax = 200;

/// Counts only where files are spread.
constexpr const char* kSpreadFolder = "write.object-storage.path";

/// The hash of a file: its last 20 bits, as folders.
constexpr int kHashBits = 20;
constexpr int kHashFolders = 3;
constexpr int kHashFolderBits = 4;

/// Cuts a name at its limit, and not within an escape such as "%2F".
std::string_view CutFolderName(std::string_view name) {
  if (name.size() <= kFolderNameBytesMax) return name;
  const std::size_t escape = name.substr(0, kFolderNameBytesMax).rfind('%');
  const bool is_split =
      escape != std::string_view::npos && escape + 3 > kFolderNameBytesMax;
  return name.substr(0, is_split ? escape : kFolderNameBytesMax);
}

/// `path` with folder names that a file system takes.
std::string CutFolderNames(std::string_view path) {
  std::string cut;
  while (true) {
    const std::size_t end = path.find('/');
    cut += CutFolderName(path.substr(0, end));
    if (end == std::string_view::npos) return cut;
    cut += '/';
    path.remove_prefix(end + 1);
  }
}

bool IsSet(const iceberg::TableMetadata& metadata, const char* property, bool otherwise) {
  const std::string* text = FindTableProperty(metadata, property);
  return text == nullptr ? otherwise : iceberg::IsTrue(*text);
}

/// Without a slash at the end.
std::string DataFolder(const iceberg::TableMetadata& metadata) {
  const char* property = DataFolderProperty(metadata);
  if (property == nullptr) return metadata.location + "/data";
  std::string_view folder = *FindTableProperty(metadata, property);
  while (folder.size() > 1 && folder.back() == '/') folder.remove_suffix(1);
  return std::string(folder);
}

/// "0101/1100/0110/11110000"
std::string HashFolders(std::string_view text) {
  const std::uint32_t hash = types::Murmur3(text);
  std::string folders;
  for (int bit = 0; bit < kHashBits; ++bit) {
    const bool starts_folder =
        bit % kHashFolderBits == 0 && bit > 0 && bit <= kHashFolders * kHashFolderBits;
    if (starts_folder) folders += '/';
    folders += (hash >> (kHashBits - 1 - bit)) & 1 ? '1' : '0';
  }
  return folders;
}

/// "db/table" of "s3://bucket/db/table", the name alone where there is no more.
std::string_view LastTwoNames(std::string_view location) {
  const std::size_t last = location.rfind('/');
  if (last == std::string_view::npos || last == 0) return location;
  const std::size_t before = location.rfind('/', last - 1);
  const bool has_parent = before != std::string_view::npos && before + 1 < last;
  return location.substr(has_parent ? before + 1 : last + 1);
}

std::string SpreadLocation(const iceberg::TableMetadata& metadata,
                           std::string_view partition_path, std::string_view file_name) {
  const std::string folder = DataFolder(metadata);
  const bool has_partitions =
      IsSet(metadata, "write.object-storage.partitioned-paths", true);
  const std::string name = has_partitions && !partition_path.empty()
                               ? fmt::format("{}/{}", partition_path, file_name)
                               : std::string(file_name);
  const std::string hash = HashFolders(name);
  if (!folder.starts_with(metadata.location)) {
    return fmt::format("{}/{}/{}/{}", folder, hash, LastTwoNames(metadata.location),
                       name);
  }
  return fmt::format("{}/{}{}{}", folder, hash, has_partitions ? '/' : '-', name);
}

}  // namespace

bool HasFoldersByName(const iceberg::TableMetadata& metadata) {
  return IsSet(metadata, "write.object-storage.enabled", false);
}

const char* DataFolderProperty(const iceberg::TableMetadata& metadata) {
  for (const char* property :
       {"write.data.path", kSpreadFolder, "write.folder-storage.path"}) {
    if (std::string_view(property) == kSpreadFolder && !HasFoldersByName(metadata))
      continue;
    const std::string* folder = FindTableProperty(metadata, property);
    if (folder != nullptr && !folder->empty()) return property;
  }
  return nullptr;
}

Result<std::string> DataFileLocation(const iceberg::TableMetadata& metadata,
                                     const types::PartitionSpec& spec,
                                     const types::PartitionTuple& partition,
                                     std::string_view file_name) {
  FIRN_ASSIGN_OR_RETURN(const std::vector<types::Type> types,
                        PartitionTypes(spec, SchemaFor(metadata, spec)));
  const std::string path = CutFolderNames(PartitionPath(spec, types, partition));
  if (HasFoldersByName(metadata)) return SpreadLocation(metadata, path, file_name);
  return fmt::format("{}/{}{}{}", DataFolder(metadata), path, path.empty() ? "" : "/",
                     file_name);
}

}  // namespace firn::shift
