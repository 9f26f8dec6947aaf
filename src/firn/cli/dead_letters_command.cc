#include <algorithm>
#include <cctype>
#include <optional>
#include <set>
#include <utility>

#include <arrow/record_batch.h>

#include "firn/cli/commands.h"
#include "firn/cli/json_output.h"
#include "firn/cli/landing.h"
#include "firn/cli/letter_files.h"
#include "firn/cli/load_positions.h"
#include "firn/cli/log.h"
#include "firn/cli/progress.h"
#include "firn/cli/shift_command.h"
#include "firn/cli/table_access.h"
#include "firn/cli/table_layout.h"
#include "firn/cli/terminal.h"
#include "firn/cli/text_table.h"
#include "firn/cli/units.h"
#include "firn/cli/waiting_segments.h"
#include "firn/cli/workspace.h"
#include "firn/commit/file_removal.h"
#include "firn/iceberg/io/metadata_io.h"
#include "firn/sources/dead_letters.h"
#include "firn/sources/files/rejected_records.h"
#include "firn/sources/letter_source.h"
#include "firn/types/single_value.h"
#include "firn/wal/load_manifest.h"
#include "firn/wal/wal_root.h"

namespace firn::cli {
namespace {

using sources::KeptLetter;

constexpr std::size_t kReasonsShown = 5;

/// The table of dead letters of the table `name`, whose columns are as they must be;
/// nothing if there is none.
Result<std::optional<OpenTable>> FindLetters(Workspace& workspace,
                                             const std::string& name) {
  FIRN_ASSIGN_OR_RETURN(auto letters, FindDeadLetterTable(workspace, name));
  if (!letters) return letters;
  FIRN_RETURN_NOT_OK(
      AddContext(sources::CheckDeadLetterSchema(CurrentSchema(letters->metadata())),
                 ToString(letters->identifier)));
  return letters;
}

/// Hands every letter of a file to `take` until that says false.
template <typename Take>
Status ForEachLetter(Workspace& workspace, const OpenTable& letters,
                     const iceberg::DataFile& file, Take&& take) {
  FIRN_ASSIGN_OR_RETURN(const auto reader, OpenLetterFile(workspace, letters, file));
  while (true) {
    FIRN_ASSIGN_OR_RETURN(const auto rows, reader->Next());
    if (rows == nullptr) return Status::OK();
    for (const KeptLetter& letter : sources::LettersOf(*rows)) {
      FIRN_ASSIGN_OR_RETURN(const bool go_on, take(letter));
      if (!go_on) return Status::OK();
    }
  }
}

std::string TimeText(std::int64_t time_us) {
  return types::ToText(types::Type(types::TypeKind::kTimestamptz), types::Value(time_us));
}

Json ToJson(const KeptLetter& letter) {
  return {{"time", TimeText(letter.time_us)},
          {"source", letter.source},
          {"position", letter.position},
          {"reason", letter.reason},
          {"raw", letter.raw},
          {"format", letter.format}};
}

/// Says so if some letters are not in the table yet, but in the WAL.
void WarnOfWaiting(const OpenTable& letters, std::int64_t waiting) {
  if (waiting == 0) return;
  LogWarning(
      fmt::format("{} of dead letters {} in the WAL; 'firn shift {}' brings {} here",
                  FormatCounted(waiting, "segment"), waiting == 1 ? "waits" : "wait",
                  letters.identifier, waiting == 1 ? "it" : "them"));
}

std::int64_t RecordsOf(const std::vector<iceberg::DataFile>& files) {
  std::int64_t records = 0;
  for (const iceberg::DataFile& file : files) records += file.record_count;
  return records;
}

struct ShownLetters {
  std::vector<KeptLetter> letters;
  /// There are so many in all.
  std::int64_t total = 0;
};

Result<ShownLetters> FirstLetters(Workspace& workspace, const OpenTable& letters,
                                  std::int64_t limit) {
  FIRN_ASSIGN_OR_RETURN(const auto files, ListLetterFiles(workspace, letters));
  ShownLetters shown = {.letters = {}, .total = RecordsOf(files)};
  for (const iceberg::DataFile& file : files) {
    if (std::ssize(shown.letters) == limit) break;
    FIRN_RETURN_NOT_OK(ForEachLetter(workspace, letters, file,
                                     [&](const KeptLetter& letter) -> Result<bool> {
                                       shown.letters.push_back(letter);
                                       return std::ssize(shown.letters) < limit;
                                     }));
  }
  return shown;
}

void PrintLetters(const ShownLetters& shown) {
  TextTable table(
      {{"time"}, {"source"}, {"record", Align::kRight}, {"reason"}, {"as it stands"}});
  for (const KeptLetter& letter : shown.letters) {
    table.AddRow({TimeText(letter.time_us), letter.source, FormatCount(letter.position),
                  letter.reason, sources::Shown(letter.raw)});
  }
  fmt::print("{}", table.ToString());
  if (std::ssize(shown.letters) == shown.total) return;
  fmt::print("{} of {}; --limit shows more\n", FormatCount(std::ssize(shown.letters)),
             FormatCount(shown.total));
}

std::set<std::string> PathsOf(const std::vector<iceberg::DataFile>& files) {
  std::set<std::string> paths;
  for (const iceberg::DataFile& file : files) paths.insert(file.file_path);
  return paths;
}

/// One name for each data file, and the same each time: what makes a replay that is run
/// again go on where it stood.
std::string ReplayIdOf(const iceberg::DataFile& file) {
  constexpr std::size_t kNameMax = 120;
  std::string name = file.file_path.substr(file.file_path.rfind('/') + 1);
  if (name.size() > kNameMax) name.erase(0, name.size() - kNameMax);
  for (char& c : name) {
    const bool is_plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-';
    if (!is_plain) c = '_';
  }
  return "replay-" + name;
}

/// One run of `dead-letters replay`.
class Replay {
 public:
  Replay(const CommandContext& context, Workspace& workspace, const OpenTable& table,
         WalId wal_id)
      : context_(context),
        workspace_(workspace),
        table_(table),
        wal_id_(std::move(wal_id)) {}

  Status Run() {
    FIRN_ASSIGN_OR_RETURN(letters_, FindShiftedLetters());
    if (!letters_) {
      fmt::print("{} has no dead letters\n", table_.identifier);
      return Status::OK();
    }
    FIRN_ASSIGN_OR_RETURN(const auto files, ListLetterFiles(workspace_, *letters_));
    FIRN_RETURN_NOT_OK(FindDurableLetters(files));
    FIRN_RETURN_NOT_OK(ChooseFiles(files));
    if (chosen_.empty()) {
      ReportNoneFits(RecordsOf(files));
      return Status::OK();
    }
    FIRN_RETURN_NOT_OK(Land());
    FIRN_RETURN_NOT_OK(commit::RemoveFiles(workspace_.catalog(), workspace_.file_io(),
                                           context_.runtime,
                                           {.table = letters_->identifier,
                                            .table_uuid = letters_->metadata().table_uuid,
                                            .paths = PathsOf(chosen_),
                                            .stop = context_.stop}));
    FIRN_RETURN_NOT_OK(End());
    return Report();
  }

 private:
  /// The table of dead letters with everything that waited in its WAL.
  Result<std::optional<OpenTable>> FindShiftedLetters() {
    const std::string name = ToString(table_.identifier);
    FIRN_ASSIGN_OR_RETURN(const auto letters, FindLetters(workspace_, name));
    if (!letters) return std::nullopt;
    FIRN_RETURN_NOT_OK(iceberg::CheckWritable(letters->metadata()));
    FIRN_ASSIGN_OR_RETURN(const std::int64_t waiting,
                          CountWaitingSegments(workspace_, *letters));
    if (waiting == 0) return letters;
    FIRN_RETURN_NOT_OK(ShiftAndReport(workspace_, *letters, context_.stop));
    return FindLetters(workspace_, name);
  }

  /// How far an interrupted replay of these files came.
  Status FindDurableLetters(const std::vector<iceberg::DataFile>& files) {
    std::vector<std::string> sources;
    for (const iceberg::DataFile& file : files) sources.push_back(SourceOf(file));
    FIRN_ASSIGN_OR_RETURN(durable_rows_,
                          FindDurable(workspace_, table_, wal_id_, sources));
    FIRN_ASSIGN_OR_RETURN(durable_letters_,
                          FindDurable(workspace_, *letters_, wal_id_, sources));
    return Status::OK();
  }

  static std::string SourceOf(const iceberg::DataFile& file) {
    return wal::LoadSourceId(ReplayIdOf(file), 0);
  }

  /// A file whose replay was begun is replayed to its end, whatever fits now: some of its
  /// letters are in the table already.
  Status ChooseFiles(const std::vector<iceberg::DataFile>& files) {
    Progress progress(context_.runtime, "trying dead letters", RecordsOf(files));
    std::int64_t tried = 0;
    for (const iceberg::DataFile& file : files) {
      const std::string source = SourceOf(file);
      bool is_chosen =
          durable_rows_.contains(source) || durable_letters_.contains(source);
      if (!is_chosen) {
        FIRN_ASSIGN_OR_RETURN(is_chosen, HasOneThatFits(file));
      }
      tried += file.record_count;
      progress.Update(tried, FormatCount(tried) + " tried");
      if (!is_chosen) continue;
      is_resumed_ |= durable_rows_.contains(source) || durable_letters_.contains(source);
      Choose(file, source);
    }
    return Status::OK();
  }

  sources::LetterReader Reader() const {
    const auto& tables = workspace_.config().tables;
    const auto configured = tables.find(ToString(table_.identifier));
    return sources::LetterReader(
        CurrentSchema(table_.metadata()),
        configured == tables.end() ? "" : configured->second.unknown_fields_column);
  }

  Result<bool> HasOneThatFits(const iceberg::DataFile& file) {
    sources::LetterReader reader = Reader();
    bool fits = false;
    FIRN_RETURN_NOT_OK(ForEachLetter(
        workspace_, *letters_, file, [&](const KeptLetter& letter) -> Result<bool> {
          FIRN_RETURN_NOT_OK(context_.stop.Check());
          FIRN_ASSIGN_OR_RETURN(const auto record, reader.Read(letter));
          fits = record.row != nullptr;
          if (!fits && reasons_.size() < kReasonsShown) {
            reasons_.push_back(fmt::format("{}, record {}: {}", letter.source,
                                           letter.position, record.reason));
          }
          return !fits;
        }));
    return fits;
  }

  void Choose(const iceberg::DataFile& file, const std::string& source) {
    chosen_.push_back(file);
    const auto rows = durable_rows_.find(source);
    const auto letters = durable_letters_.find(source);
    const auto nothing = durable_rows_.end();
    std::int64_t first = rows == nothing ? 0 : rows->second;
    // Without a dead letter the range of the letters was never written.
    if (letters != durable_letters_.end()) first = std::min(first, letters->second);
    sources_.push_back({.source_id = source, .first_record = first, .open = [this, file] {
                          return OpenLetterFile(workspace_, *letters_, file);
                        }});
  }

  Status Land() {
    sources::LetterSource source(ToString(table_.identifier), Reader(),
                                 std::move(sources_));
    const bool has_begun = !durable_letters_.empty();
    FIRN_ASSIGN_OR_RETURN(
        const auto landing,
        Landing::Make(workspace_, table_, has_begun ? letters_ : std::nullopt));
    while (true) {
      FIRN_ASSIGN_OR_RETURN(auto batch, source.Next(context_.stop));
      if (!batch) break;
      FIRN_RETURN_NOT_OK(landing->Append(*std::move(batch), context_.stop));
    }
    FIRN_RETURN_NOT_OK(landing->Close());
    fit_ = landing->counts().rows;
    FIRN_RETURN_NOT_OK(ShiftLanded(workspace_, table_, wal_id_, landing->reached(),
                                   durable_rows_, context_.stop));
    return ShiftLanded(workspace_, *letters_, wal_id_, landing->dead_letters_reached(),
                       durable_letters_, context_.stop);
  }

  /// Without its file nobody asks for a replay any more: its positions may go.
  Status End() {
    for (const iceberg::DataFile& file : chosen_) {
      const std::string id = ReplayIdOf(file);
      for (const OpenTable* table : {&table_, &std::as_const(*letters_)}) {
        FIRN_RETURN_NOT_OK(
            wal::EndLoad(workspace_.wal_store(), table->metadata().table_uuid, id));
      }
    }
    return Status::OK();
  }

  /// With what is wrong now: that may not be what was wrong when they were kept.
  void ReportNoneFits(std::int64_t letters) const {
    if (letters == 1) {
      fmt::print("the only dead letter of {} does not fit\n", table_.identifier);
    } else {
      fmt::print("none of the {} of {} fits\n", FormatCounted(letters, "dead letter"),
                 table_.identifier);
    }
    for (const std::string& reason : reasons_) fmt::print("  {}\n", Printable(reason));
  }

  /// What an interrupted run took into the table is not counted again.
  Status Report() {
    FIRN_ASSIGN_OR_RETURN(const OpenTable letters,
                          FindTable(workspace_, ToString(letters_->identifier)));
    FIRN_ASSIGN_OR_RETURN(const auto files, ListLetterFiles(workspace_, letters));
    const std::int64_t left = RecordsOf(files);
    fmt::print("{}: {} {} now and {} in the table{}, {} {}\n", table_.identifier,
               FormatCounted(fit_, "dead letter"), fit_ == 1 ? "fits" : "fit",
               fit_ == 1 ? "is" : "are",
               is_resumed_ ? ", beside those that an interrupted replay took there" : "",
               FormatCount(left), left == 1 ? "stays" : "stay");
    return Status::OK();
  }

  const CommandContext& context_;
  Workspace& workspace_;
  const OpenTable& table_;
  const WalId wal_id_;
  std::optional<OpenTable> letters_;
  Reached durable_rows_;
  Reached durable_letters_;
  /// The files that are replayed, and what is read of them.
  std::vector<iceberg::DataFile> chosen_;
  std::vector<sources::LetterFile> sources_;
  /// Why the first ones do not fit.
  std::vector<std::string> reasons_;
  /// True if an earlier run was interrupted in one of them.
  bool is_resumed_ = false;
  /// Letters that this run found to fit.
  std::int64_t fit_ = 0;
};

}  // namespace

Status RunDeadLettersShow(const CommandContext& context,
                          const DeadLettersShowArguments& arguments) {
  FIRN_ASSIGN_OR_RETURN(const auto workspace,
                        OpenWorkspace(context, WorkspaceMode::kExisting));
  FIRN_ASSIGN_OR_RETURN(const OpenTable table, FindTable(*workspace, arguments.table));
  FIRN_ASSIGN_OR_RETURN(const auto letters, FindLetters(*workspace, arguments.table));
  ShownLetters shown;
  std::int64_t waiting = 0;
  if (letters) {
    FIRN_ASSIGN_OR_RETURN(waiting, CountWaitingSegments(*workspace, *letters));
    WarnOfWaiting(*letters, waiting);
    FIRN_ASSIGN_OR_RETURN(shown, FirstLetters(*workspace, *letters, arguments.limit));
  }
  if (arguments.format == OutputFormat::kJson) {
    Json json = Json::array();
    for (const KeptLetter& letter : shown.letters) json.push_back(ToJson(letter));
    PrintJson(json);
  } else if (shown.total == 0) {
    fmt::print("{} has no dead letters{}\n", table.identifier,
               waiting == 0 ? "" : " but those in the WAL");
  } else {
    PrintLetters(shown);
  }
  return Status::OK();
}

Status RunDeadLettersReplay(const CommandContext& context, const std::string& name) {
  FIRN_ASSIGN_OR_RETURN(const auto workspace,
                        OpenWorkspace(context, WorkspaceMode::kExisting));
  FIRN_ASSIGN_OR_RETURN(const OpenTable table, FindTable(*workspace, name));
  FIRN_RETURN_NOT_OK(iceberg::CheckWritable(table.metadata()));
  FIRN_ASSIGN_OR_RETURN(const WalId wal_id,
                        wal::OpenWalRoot(context.runtime, workspace->wal_store()));
  return Replay(context, *workspace, table, wal_id).Run();
}

}  // namespace firn::cli
