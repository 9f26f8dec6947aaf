#include "firn/jobs/file_follower.h"

#include <algorithm>
#include <fstream>
#include <utility>

#include "firn/core/backoff.h"
#include "firn/core/crash_point.h"
#include "firn/core/stoppable_sleep.h"
#include "firn/jobs/durable_sources.h"
#include "firn/sources/dead_letters.h"
#include "firn/sources/files/unknown_fields.h"
#include "firn/sources/files/wanted_schema.h"
#include "firn/storage/s3/digest.h"

namespace firn::jobs {
namespace {

constexpr Backoff kFailureBackoff = {.first = std::chrono::seconds(1),
                                     .max = std::chrono::seconds(30)};
/// Files that fail in one pass before it ends: likely all would.
constexpr int kFailuresMax = 3;
constexpr Duration kPollIntervalMin = std::chrono::milliseconds(1);
constexpr std::size_t kPieceBytes = 1 << 20;
/// Of a digest, in hexadecimal: enough that no two files share it.
constexpr std::size_t kIdDigits = 40;

/// A digest of the digests of a file's pieces. Invalid if it cannot be read.
Result<std::string> ChecksumOf(const std::string& path, const StopToken& stop) {
  std::ifstream file(path, std::ios::binary);
  std::string digests;
  std::string piece(kPieceBytes, '\0');
  while (file) {
    FIRN_RETURN_NOT_OK(stop.Check());
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    const auto bytes = static_cast<std::size_t>(file.gcount());
    if (bytes > 0) digests += storage::s3::Sha256Hex({piece.data(), bytes});
  }
  if (!file.eof()) return InvalidError("{}: cannot be read", path);
  return storage::s3::Sha256Hex(digests);
}

/// The id of the load that takes this file.
std::string IdOf(const sources::FolderFile& file, const std::string& checksum) {
  const std::string name =
      fmt::format("{}\n{}\n{}", file.path, file.size_bytes, checksum);
  return "file-" + storage::s3::Sha256Hex(name).substr(0, kIdDigits);
}

std::string StampOf(const sources::FolderFile& file) {
  const std::string name =
      fmt::format("{}\n{}\n{}", file.path, file.size_bytes, file.modified_ns);
  return storage::s3::Sha256Hex(name).substr(0, kIdDigits);
}

wal::LoadFile LoadFileOf(const sources::FolderFile& file) {
  return {
      .path = file.path, .size_bytes = file.size_bytes, .modified_ns = file.modified_ns};
}

/// A failure that is none of the file: whatever it is, it is tried again.
Status TriedAgain(const Status& status) {
  if (status.ok() || IsError(status, ErrorKind::kCancelled)) return status;
  return MakeError(ErrorKind::kUnavailable, ErrorText(status));
}

/// What is left is one of the file, which time will not mend.
bool IsTriedAgain(const Status& status) {
  return IsError(status, ErrorKind::kUnavailable) ||
         IsError(status, ErrorKind::kCancelled);
}

/// Reads every record, and delivers none: a file that cannot be read to its end is not
/// begun with.
Status CheckReadable(const sources::FileLoad& load, const StopToken& stop) {
  FIRN_ASSIGN_OR_RETURN(const auto source, sources::FileSource::Make(load));
  while (true) {
    FIRN_ASSIGN_OR_RETURN(const auto batch, source->Next(stop));
    if (!batch) return Status::OK();
  }
}

}  // namespace

FileFollower::FileFollower(Pipeline& pipeline, FollowedFolder folder)
    : pipeline_(pipeline),
      folder_(std::move(folder)),
      files_(pipeline_.environment().metrics.GetCounter(
          {.name = "firn_files_taken_total",
           .help = "Files of followed folders of which all records are durable.",
           .labels = {{"table", folder_.table}}})),
      failures_(pipeline_.environment().metrics.GetCounter(
          {.name = "firn_files_failures_total",
           .help = "Attempts to take a file of a followed folder that failed.",
           .labels = {{"table", folder_.table}}})),
      thread_(pipeline_.environment().runtime, "files", [this] { Run(); }) {}

FileFollower::~FileFollower() {
  BeginStop();
  Join();
}

void FileFollower::Tell(EventLevel level, const std::string& text) {
  pipeline_.environment().events(level, fmt::format("{}: {}", folder_.table, text));
}

void FileFollower::Run() {
  Runtime& runtime = pipeline_.environment().runtime;
  const StopToken stop = stop_.token();
  LookAtTable();
  int failed = 0;
  while (!stop.stop_requested()) {
    const Status passed = Pass();
    if (stop.stop_requested()) return;
    Duration wait = std::max(folder_.poll_interval, kPollIntervalMin);
    if (passed.ok()) {
      failed = 0;
    } else {
      failures_.Increment();
      wait = std::max(wait, WaitAfter(++failed, kFailureBackoff, runtime));
      Tell(EventLevel::kWarning,
           fmt::format("a file is not taken yet, tried again in {:.1f} s: {}",
                       std::chrono::duration<double>(wait).count(), ErrorText(passed)));
    }
    (void)SleepUnlessStopped(runtime, wait, stop);
  }
}

void FileFollower::LookAtTable() {
  const StopToken stop = stop_.token();
  const Status opened = FileDelivery(pipeline_, folder_.table, stop).Open();
  if (opened.ok() || stop.stop_requested()) return;
  Tell(EventLevel::kWarning, fmt::format("files of {} are not taken yet: {}",
                                         folder_.files.folder, ErrorText(opened)));
}

Status FileFollower::Pass() {
  Runtime& runtime = pipeline_.environment().runtime;
  FIRN_ASSIGN_OR_RETURN(const auto files,
                        sources::ListWholeFiles(folder_.files, runtime.Now()));
  Status failure;
  int failed = 0;
  for (const sources::FolderFile& file : files) {
    FIRN_RETURN_NOT_OK(stop_.token().Check());
    const auto known = known_.find(file.path);
    if (known != known_.end() && known->second == file) continue;
    const Status taken = TakeNew(file);
    if (IsTriedAgain(taken)) {
      if (failure.ok()) failure = taken;
      if (++failed == kFailuresMax) return failure;
      continue;
    }
    known_[file.path] = file;
    if (taken.ok()) continue;
    failures_.Increment();
    Tell(EventLevel::kWarning,
         fmt::format("a file is left out until it is changed: {}", ErrorText(taken)));
  }
  return failure;
}

Status FileFollower::TakeNew(const sources::FolderFile& file) {
  const StopToken stop = stop_.token();
  FileDelivery delivery(pipeline_, folder_.table, stop);
  FIRN_RETURN_NOT_OK(TriedAgain(delivery.Open()));
  FIRN_RETURN_NOT_OK(TriedAgain(ReadNotes(delivery.table_uuid())));
  const std::string stamp = StampOf(file);
  if (taken_stamps_.contains(stamp)) return Status::OK();
  FIRN_ASSIGN_OR_RETURN(const std::string checksum, ChecksumOf(file.path, stop));
  const std::string id = IdOf(file, checksum);
  if (taken_ids_.contains(id)) return Status::OK();
  return Take(file, {.id = id, .stamp = stamp}, delivery);
}

Status FileFollower::ReadNotes(const TableUuid& table) {
  if (table_ == table) return Status::OK();
  storage::ObjectStore& wal = pipeline_.environment().wal_store;
  FIRN_ASSIGN_OR_RETURN(const auto taken, wal::ListTakenFiles(wal, table));
  taken_ids_.clear();
  taken_stamps_.clear();
  for (const wal::TakenFile& file : taken) {
    taken_ids_.insert(file.id);
    taken_stamps_.insert(file.stamp);
  }
  FIRN_RETURN_NOT_OK(EndNoted(table));
  table_ = table;
  return Status::OK();
}

/// Those whose process ended between the note and the end.
Status FileFollower::EndNoted(const TableUuid& table) {
  storage::ObjectStore& wal = pipeline_.environment().wal_store;
  FIRN_ASSIGN_OR_RETURN(const auto begun, wal::ListLoads(wal, table));
  FIRN_ASSIGN_OR_RETURN(const auto ended, wal::ListEndedLoads(wal, table));
  for (const std::string& id : begun) {
    const bool has_ended =
        std::ranges::find(ended, id, &wal::EndedLoad::id) != ended.end();
    if (has_ended || !taken_ids_.contains(id)) continue;
    FIRN_RETURN_NOT_OK(wal::EndLoad(wal, table, id));
  }
  return Status::OK();
}

Result<std::int64_t> FileFollower::FindFirstRecord(const std::string& id,
                                                   FileDelivery& delivery) {
  const Pipeline::Environment& environment = pipeline_.environment();
  const DurableLook look = {.runtime = environment.runtime,
                            .catalog = environment.catalog,
                            .wal_store = environment.wal_store,
                            .wal_id = environment.wal_id};
  const std::string source = wal::LoadSourceId(id, 0);
  const auto reached =
      [&](const std::string& table) -> Result<std::optional<std::int64_t>> {
    FIRN_ASSIGN_OR_RETURN(const auto identifier, iceberg::ParseTableIdentifier(table));
    const auto durable = FindDurableSources(look, identifier, {source});
    if (IsError(durable.status(), ErrorKind::kNotFound)) return std::nullopt;
    FIRN_RETURN_NOT_OK(durable.status());
    const auto found = durable->find(source);
    if (found == durable->end()) return std::nullopt;
    return found->second;
  };
  FIRN_ASSIGN_OR_RETURN(const auto rows, reached(folder_.table));
  FIRN_ASSIGN_OR_RETURN(const auto letters,
                        reached(sources::DeadLetterTable(folder_.table)));
  if (letters) FIRN_RETURN_NOT_OK(delivery.OpenDeadLetters());
  // Where both are durable.
  return std::min(rows.value_or(0), letters.value_or(rows.value_or(0)));
}

Status FileFollower::Take(const sources::FolderFile& file, const wal::TakenFile& taken,
                          FileDelivery& delivery) {
  storage::ObjectStore& wal = pipeline_.environment().wal_store;
  const StopToken stop = stop_.token();
  sources::FileLoad load = {.table = folder_.table,
                            .load_id = taken.id,
                            .files = {file.path},
                            .first_records = {},
                            .schema = delivery.schema(),
                            .options = folder_.format};
  const Status begun = wal::ReadLoad(wal, delivery.table_uuid(), taken.id).status();
  if (IsError(begun, ErrorKind::kNotFound)) {
    FIRN_RETURN_NOT_OK(Prepare(load, delivery));
  } else {
    FIRN_RETURN_NOT_OK(TriedAgain(begun));
    const auto first = FindFirstRecord(taken.id, delivery);
    FIRN_RETURN_NOT_OK(TriedAgain(first.status()));
    load.first_records[0] = *first;
  }
  FIRN_RETURN_NOT_OK(TriedAgain(Land(std::move(load), LoadFileOf(file), delivery)));
  FIRN_RETURN_NOT_OK(TriedAgain(Note(taken, LoadFileOf(file), delivery)));
  OnTaken(file, taken, delivery);
  return Status::OK();
}

Result<types::Schema> FileFollower::Wanted(const sources::FileLoad& load) {
  const std::string& column = folder_.format.unknown_fields_column;
  if (!column.empty()) {
    auto wanted = sources::WithUnknownFieldsColumn(load.schema, column);
    // A column that cannot be is no fault of the file.
    FIRN_RETURN_NOT_OK(TriedAgain(wanted.status()));
    return wanted;
  }
  if (!folder_.evolves) return load.schema;
  return sources::FindWantedSchema({.schema = load.schema, .files = load.files},
                                   folder_.format, stop_.token(),
                                   [](std::int64_t, std::int64_t) {});
}

Status FileFollower::Prepare(sources::FileLoad& load, FileDelivery& delivery) {
  FIRN_ASSIGN_OR_RETURN(const types::Schema wanted, Wanted(load));
  if (wanted != load.schema) {
    const Status evolved = delivery.Evolve(wanted);
    FIRN_RETURN_NOT_OK(evolved.IsInvalid() ? evolved : TriedAgain(evolved));
    load.schema = delivery.schema();
  }
  return CheckReadable(load, stop_.token());
}

Status FileFollower::Land(sources::FileLoad load, const wal::LoadFile& file,
                          FileDelivery& delivery) {
  FIRN_RETURN_NOT_OK(wal::FreezeLoad(pipeline_.environment().wal_store,
                                     delivery.table_uuid(), load.load_id,
                                     {.files = {file}, .options = {}})
                         .status());
  FIRN_ASSIGN_OR_RETURN(const auto source, sources::FileSource::Make(std::move(load)));
  FIRN_RETURN_NOT_OK(delivery.Run(*source));
  CrashPoint("files.delivered");
  return Status::OK();
}

Status FileFollower::Note(const wal::TakenFile& taken, const wal::LoadFile& file,
                          const FileDelivery& delivery) {
  storage::ObjectStore& wal = pipeline_.environment().wal_store;
  const TableUuid& table = delivery.table_uuid();
  // Before the end of the load: from then on its positions may be forgotten.
  FIRN_RETURN_NOT_OK(wal::NoteTakenFile(wal, table, taken, file));
  CrashPoint("files.noted");
  if (const TableUuid* letters = delivery.dead_letters_uuid()) {
    FIRN_RETURN_NOT_OK(wal::EndLoad(wal, *letters, taken.id));
  }
  return wal::EndLoad(wal, table, taken.id);
}

void FileFollower::OnTaken(const sources::FolderFile& file, const wal::TakenFile& taken,
                           const FileDelivery& delivery) {
  taken_ids_.insert(taken.id);
  taken_stamps_.insert(taken.stamp);
  files_.Increment();
  pipeline_.dead_letters().Count(folder_.table, delivery.dead_letters());
  Tell(EventLevel::kInfo,
       fmt::format("took {}: {} records, {} of them dead letters", file.path,
                   delivery.records(), delivery.dead_letters().total()));
}

}  // namespace firn::jobs
