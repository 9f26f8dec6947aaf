// An NDJSON file, as `load` reads it: unknown fields are left out, or kept in a map.

#include "load_records.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // A bit of the input chooses: with a line's end behind it they are left out.
  const bool keeps_unknown = size > 0 && (data[size - 1] & 1) != 0;
  firn::sources::FileOptions options{.format = firn::sources::FileFormat::kNdjson,
                                     .ignore_unknown = !keeps_unknown};
  if (keeps_unknown) options.unknown_fields_column = "attrs";
  firn::fuzz::LoadRecords(firn::fuzz::TextOf(data, size), options);
  return 0;
}
