// A CSV file, as `load` reads it. The first byte chooses header and delimiter.

#include "load_records.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  firn::sources::FileOptions options{.format = firn::sources::FileFormat::kCsv,
                                     .ignore_unknown = true};
  options.csv.has_header = data[0] % 2 == 0;
  if (data[0] % 4 >= 2) options.csv.delimiter = ';';
  options.csv.null_spellings = {"", "NULL"};
  options.csv.row_bytes_max = 1024;
  firn::fuzz::LoadRecords(firn::fuzz::TextOf(data + 1, size - 1), options);
  return 0;
}
