// Manifests and manifest lists, as Avro container files. A list that is read is written
// and read again as the same.

#include "firn/iceberg/metadata/row_lineage.h"
#include "firn/iceberg/serde/avro/container.h"
#include "firn/iceberg/serde/manifest_avro.h"
#include "firn/iceberg/serde/manifest_list_avro.h"
#include "firn/iceberg/testing/sample_table.h"
#include "fuzz_input.h"

namespace firn::iceberg {
namespace {

void TryList(std::string_view bytes) {
  const auto manifests = DecodeManifestList(bytes);
  if (!manifests.ok()) return;
  // The version that has every field.
  const auto written =
      EncodeManifestList({.snapshot_id = SnapshotId(1), .format_version = 3}, *manifests);
  if (!written.ok()) return;  // of an old format, without counts
  const auto again = DecodeManifestList(*written);
  fuzz::Require(again.status());
  FIRN_CHECK(*again == *manifests);
}

void Try(std::string_view bytes) {
  static const TableMetadata kTable = FlightsMetadata();
  static const types::PartitionSpec kSpec = kTable.partition_specs.at(0);
  static const std::vector<types::Type> kTypes =
      PartitionTypes(kSpec, CurrentSchema(kTable)).ValueOrDie();
  const auto container = avro::ReadContainer(bytes);
  static_cast<void>(container.ok());
  auto entries = DecodeManifest(bytes, kSpec, kTypes);
  if (entries.ok()) static_cast<void>(InheritRowIds({.first_row_id = 0}, *entries).ok());
  TryList(bytes);
}

}  // namespace
}  // namespace firn::iceberg

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  firn::iceberg::Try(firn::fuzz::TextOf(data, size));
  return 0;
}
