// An NDJSON file, as `load` reads it.

#include "load_records.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const firn::sources::FileOptions options{.format = firn::sources::FileFormat::kNdjson,
                                           .ignore_unknown = true};
  firn::fuzz::LoadRecords(firn::fuzz::TextOf(data, size), options);
  return 0;
}
