// Table metadata of an Iceberg table. What is read and can be written is read again as
// the same.

#include "firn/iceberg/serde/metadata_json.h"
#include "fuzz_input.h"

namespace firn::iceberg {
namespace {

void Try(std::string_view json) {
  const Result<TableMetadata> metadata = ParseTableMetadata(json);
  if (!metadata.ok()) return;
  const Result<std::string> text = MetadataToJson(*metadata);
  fuzz::Require(text.status());
  const Result<TableMetadata> again = ParseTableMetadata(*text);
  fuzz::Require(again.status());
  FIRN_CHECK(MetadataToJson(*again).ValueOrDie() == *text, "{}", *text);
}

}  // namespace
}  // namespace firn::iceberg

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  firn::iceberg::Try(firn::fuzz::TextOf(data, size));
  return 0;
}
