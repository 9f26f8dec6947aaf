#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "firn/sources/files/record_reader.h"
#include "firn/sources/source.h"
#include "firn/types/schema.h"

namespace firn::sources {

/// What a load of files reads.
struct FileLoad {
  /// As the user names it.
  std::string table;
  /// See wal::LoadSourceId.
  std::string load_id;
  std::vector<std::string> files;
  /// Records of each file that are durable already, by its index; 0 for those not named.
  std::map<std::size_t, std::int64_t> first_records;
  types::Schema schema;
  FileOptions options;
};

/// The records of files of any format, one file after the other, numbered by file and
/// record. Records that do not fit the schema are handed out as dead letters.
class FileSource : public Source {
 public:
  /// Invalid if a declared time unit is not of a timestamp column.
  static Result<std::unique_ptr<FileSource>> Make(FileLoad load);

  /// Also Invalid if a file has fewer records than are durable of it.
  Result<std::optional<SourceBatch>> Next(const StopToken& stop) override;

  /// Over all files; no total if one has no known size.
  FileProgress progress() const;

  /// Opens the first file now, which else the first Next does: what is wrong with it is
  /// known before anything is done for its records.
  Status Open();

 private:
  explicit FileSource(FileLoad load) : load_(std::move(load)) {}

  std::int64_t FirstRecord() const;
  Status OpenFile();
  Status CloseFile();
  Result<SourceBatch> BatchOf(RecordBlock block) const;

  const FileLoad load_;
  std::size_t file_ = 0;
  /// Of the file `file_`; null between two files.
  std::unique_ptr<RecordReader> reader_;
  std::string path_;
  /// Of its records.
  std::shared_ptr<const std::string> format_;
  std::optional<std::int64_t> bytes_total_;
  /// Of the files before `file_`.
  std::int64_t bytes_done_ = 0;
};

/// "<source>: line 7: <reason>", the letter in one line.
std::string DeadLetterText(const DeadLetter& letter);

}  // namespace firn::sources
