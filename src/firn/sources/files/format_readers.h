#pragma once

#include <memory>

#include "firn/core/status.h"
#include "firn/sources/files/input_file.h"
#include "firn/sources/files/record_reader.h"

namespace firn::sources {

/// One reader for each format; what OpenRecords chooses from. Errors are its.
Result<std::unique_ptr<RecordReader>> OpenCsvRecords(InputFile file, FileRequest request);
Result<std::unique_ptr<RecordReader>> OpenNdjsonRecords(InputFile file,
                                                        FileRequest request);
Result<std::unique_ptr<RecordReader>> OpenParquetRecords(FileRequest request);

/// The options for one file: a name in .tsv means that tabs part the values.
CsvOptions CsvOptionsFor(const std::string& path, const FileOptions& options);

}  // namespace firn::sources
