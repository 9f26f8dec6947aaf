#include <malloc.h>
#include <sys/resource.h>

#include <cstdlib>
#include <map>
#include <optional>
#include <utility>

#include "firn/cli/commands.h"
#include "firn/cli/evolve_schema.h"
#include "firn/cli/exit_code.h"
#include "firn/cli/landing.h"
#include "firn/cli/load_input.h"
#include "firn/cli/log.h"
#include "firn/cli/logged_tables.h"
#include "firn/cli/table_access.h"
#include "firn/cli/units.h"
#include "firn/cli/workspace.h"
#include "firn/core/backoff.h"
#include "firn/core/stoppable_sleep.h"
#include "firn/core/whole_number.h"
#include "firn/http/http_server.h"
#include "firn/jobs/file_follower.h"
#include "firn/jobs/http_endpoints.h"
#include "firn/jobs/memory_shares.h"
#include "firn/jobs/pipeline.h"
#include "firn/sources/files/time_units.h"
#include "firn/wal/wal_root.h"

namespace firn::cli {
namespace {

/// A stop may be requested by a signal, which can wake nobody up.
constexpr Duration kStopPollInterval = std::chrono::milliseconds(50);
/// Answers that are under way when everything is durable.
constexpr Duration kLastAnswersTime = std::chrono::seconds(2);

/// While store or catalog are down at the start.
constexpr Backoff kOpenBackoff = {.first = std::chrono::seconds(1),
                                  .max = std::chrono::seconds(15)};

/// Bodies are large, and come and go: the system gets back what they took, instead of
/// heaps that grow to hold the next one.
void GiveBackLargeBlocks() { (void)mallopt(M_MMAP_THRESHOLD, 1 << 20); }

/// As many files as the system lets this process open: each connection is one.
void RaiseFileLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  (void)setrlimit(RLIMIT_NOFILE, &limit);
}

/// "127.0.0.1:8080", "[::1]:8080".
Result<http::ServerOptions> ServerOptionsOf(const HttpConfig& config) {
  http::ServerOptions options = {.header_bytes_max = config.max_header_bytes,
                                 .body_bytes_max = config.max_body_bytes,
                                 .connections_max = config.max_connections,
                                 .idle_timeout = config.idle_timeout,
                                 .request_timeout = config.request_timeout,
                                 .answer_timeout = config.answer_timeout};
  const std::size_t colon = config.listen.rfind(':');
  const auto port = colon == std::string::npos
                        ? std::nullopt
                        : ParseWholeNumber<std::uint16_t>(
                              std::string_view(config.listen).substr(colon + 1));
  if (!port) {
    return AsUsageError(InvalidError(
        "http.listen: \"{}\" is no numeric address with a port, such as 127.0.0.1:8080",
        config.listen));
  }
  options.address = config.listen.substr(0, colon);
  if (options.address.starts_with('[') && options.address.ends_with(']')) {
    options.address = options.address.substr(1, options.address.size() - 2);
  }
  options.port = *port;
  return options;
}

bool Evolves(const TableConfig& table) {
  return table.schema_evolution == SchemaEvolution::kAdd && !table.ignore_unknown;
}

void Log(jobs::EventLevel level, const std::string& message) {
  if (level == jobs::EventLevel::kInfo) {
    LogInfo(message);
  } else {
    LogWarning(message);
  }
}

/// Ends the process if its end takes too long. Nothing is lost by that: what is not
/// durable was not answered.
class EndTimer {
 public:
  EndTimer(Runtime& runtime, Duration timeout)
      : runtime_(runtime),
        end_(runtime.SinceBoot() + timeout),
        mutex_(runtime),
        done_changed_(runtime),
        thread_(runtime, "end", [this, timeout] { Wait(timeout); }) {}
  ~EndTimer() {
    {
      MutexLock lock(mutex_);
      done_ = true;
      done_changed_.NotifyAll();
    }
    thread_.Join();
  }

 private:
  void Wait(Duration timeout) {
    MutexLock lock(mutex_);
    while (!done_ && runtime_.SinceBoot() < end_) {
      done_changed_.WaitFor(mutex_, end_ - runtime_.SinceBoot());
    }
    if (done_) return;
    LogWarning(fmt::format(
        "not ended within {} (shutdown_timeout): what was not answered may be lost",
        FormatDuration(timeout)));
    std::_Exit(kExitFailed);
  }

  Runtime& runtime_;
  const BootTime end_;
  Mutex mutex_;
  CondVar done_changed_;
  bool done_ = false;  // guarded by mutex_
  Thread thread_;
};

/// The server, from its start to its end.
class Serving {
 public:
  /// The workspace must outlive it.
  Serving(Workspace& workspace, const WalId& wal_id)
      : workspace_(workspace),
        config_(workspace.config()),
        wal_id_(wal_id),
        runtime_(workspace.runtime()),
        buffer_memory_(runtime_, config_.memory_limit / 2),
        shift_memory_(runtime_, config_.memory_limit / 2) {}

  Status Run(const StopToken& stop) {
    FIRN_ASSIGN_OR_RETURN(http::ServerOptions options, ServerOptionsOf(config_.http));
    options.refusal = jobs::ErrorResponse;
    options.body_memory = jobs::BodyShare(buffer_memory_);
    options.body_bytes_max =
        std::min(options.body_bytes_max, options.body_memory->limit_bytes);
    FIRN_RETURN_NOT_OK(ReadTimeUnits());
    FIRN_ASSIGN_OR_RETURN(std::vector<jobs::FollowedFolder> folders, ReadFolders());
    RaiseFileLimit();
    GiveBackLargeBlocks();
    jobs::Pipeline pipeline(EnvironmentOf(), PipelineOptionsOf());
    jobs::HttpEndpoints endpoints(
        runtime_, pipeline, workspace_.metrics(),
        [this](const std::string& table) { return UploadOptionsOf(table); });
    FIRN_ASSIGN_OR_RETURN(
        const auto server,
        http::HttpServer::Start(runtime_, options,
                                [&](http::ServerRequest request, http::Answer answer) {
                                  endpoints.Handle(std::move(request), std::move(answer));
                                }));
    ShowGauges(*server);
    LogInfo(fmt::format("serving http://{}:{}, WAL {}", options.address, server->port(),
                        workspace_.wal_store().Location("")));
    std::vector<std::unique_ptr<jobs::FileFollower>> followers;
    for (jobs::FollowedFolder& folder : folders) {
      followers.push_back(
          std::make_unique<jobs::FileFollower>(pipeline, std::move(folder)));
    }
    while (!stop.stop_requested()) runtime_.Sleep(kStopPollInterval);
    LogInfo("stopping: making durable what was taken, finishing commits");
    const EndTimer timer(runtime_, config_.shutdown_timeout);
    server->Drain();
    for (const auto& follower : followers) follower->BeginStop();
    pipeline.Close();
    AwaitLastAnswers(*server);
    LogInfo("stopped");
    return Status::OK();
  }

 private:
  jobs::Pipeline::Environment EnvironmentOf() {
    return {.runtime = runtime_,
            .buffer_memory = buffer_memory_,
            .shift_memory = shift_memory_,
            .metrics = workspace_.metrics(),
            .catalog = workspace_.catalog(),
            .io = workspace_.file_io(),
            .wal_store = workspace_.wal_store(),
            .wal_id = wal_id_,
            .events = Log};
  }

  jobs::PipelineOptions PipelineOptionsOf() const {
    return {.buffer = BufferOptions(config_),
            .trigger = {.start_bytes = config_.shift.start_bytes,
                        .max_age = config_.shift.max_age},
            .uncommitted_bytes_max = config_.wal.max_uncommitted_bytes,
            .dead_letter_alarm = {.records = config_.dead_letters.alarm_records,
                                  .interval = config_.dead_letters.alarm_interval},
            .shift_options = [this](const std::string& table) {
              return ShiftOptions(config_, table);
            }};
  }

  /// A usage error, naming the table, for a unit that there is not.
  Status ReadTimeUnits() {
    for (const auto& [name, table] : config_.tables) {
      auto units = sources::ParseTimeUnits(table.time_units);
      FIRN_RETURN_NOT_OK(
          AsUsageError(AddContext(units.status(), "tables: " + name + ": time_units")));
      time_units_[name] = *std::move(units);
    }
    return Status::OK();
  }

  Result<std::vector<jobs::FollowedFolder>> ReadFolders() const {
    std::vector<jobs::FollowedFolder> folders;
    for (const FolderConfig& config : config_.source_files) {
      const std::string place = "sources: files: " + config.path;
      FIRN_RETURN_NOT_OK(AsUsageError(
          AddContext(iceberg::ParseTableIdentifier(config.table).status(), place)));
      auto folder = FolderOf(config);
      FIRN_RETURN_NOT_OK(AddContext(folder.status(), place));
      folders.push_back(*std::move(folder));
    }
    return folders;
  }

  Result<jobs::FollowedFolder> FolderOf(const FolderConfig& config) const {
    jobs::FollowedFolder folder = {
        .table = config.table,
        .files = {.pattern = config.pattern, .stable_for = config.stable_for},
        .poll_interval = config.poll_interval};
    // Part of what a file is known by: it must not depend on the working directory.
    FIRN_ASSIGN_OR_RETURN(folder.files.folder, AbsolutePath(config.path));
    FIRN_ASSIGN_OR_RETURN(folder.format, FileOptionsOf({.format = config.format,
                                                        .null_values = config.null_values,
                                                        .delimiter = config.delimiter,
                                                        .no_header = !config.header}));
    const auto table = config_.tables.find(config.table);
    if (table == config_.tables.end()) return folder;
    // Columns without names tell no new ones.
    folder.evolves = Evolves(table->second) && config.header;
    folder.format.ignore_unknown = table->second.ignore_unknown;
    folder.format.unknown_fields_column = table->second.unknown_fields_column;
    folder.format.time_units = time_units_.at(config.table);
    return folder;
  }

  jobs::UploadOptions UploadOptionsOf(const std::string& name) const {
    jobs::UploadOptions options = {.decoded_bytes_max =
                                       config_.http.max_decompressed_bytes};
    const auto table = config_.tables.find(name);
    if (table == config_.tables.end()) return options;
    options.evolves = Evolves(table->second);
    options.format.ignore_unknown = table->second.ignore_unknown;
    options.format.unknown_fields_column = table->second.unknown_fields_column;
    options.format.time_units = time_units_.at(name);
    return options;
  }

  void ShowGauges(const http::HttpServer& server) {
    metrics::Registry& registry = workspace_.metrics();
    const auto show_budget = [&](const char* part, MemoryBudget& memory) {
      registry.ReadGauge({.name = "firn_memory_used_bytes",
                          .help = "Memory taken of a part's limit.",
                          .labels = {{"part", part}}},
                         [&memory] { return static_cast<double>(memory.used_bytes()); });
      registry
          .GetGauge({.name = "firn_memory_limit_bytes",
                     .help = "Memory that a part may take.",
                     .labels = {{"part", part}}})
          .Set(static_cast<double>(memory.limit_bytes()));
    };
    show_budget("buffers", buffer_memory_);
    show_budget("shifts", shift_memory_);
    registry.ReadGauge(
        {.name = "firn_http_connections_count", .help = "Connections that are open."},
        [&server] { return static_cast<double>(server.connection_count()); });
    registry.ReadCounter({.name = "firn_http_refused_total",
                          .help = "Connections and requests answered with 503 for want "
                                  "of room, unread."},
                         [&server] { return server.refused_count(); });
  }

  void AwaitLastAnswers(const http::HttpServer& server) {
    const BootTime end = runtime_.SinceBoot() + kLastAnswersTime;
    while (server.connection_count() > 0 && runtime_.SinceBoot() < end) {
      runtime_.Sleep(std::chrono::milliseconds(10));
    }
  }

  Workspace& workspace_;
  const Config& config_;
  const WalId wal_id_;
  Runtime& runtime_;
  MemoryBudget buffer_memory_;
  MemoryBudget shift_memory_;
  /// By table; complete before the first request.
  std::map<std::string, sources::TimeUnits> time_units_;
};

struct Opened {
  std::unique_ptr<Workspace> workspace;
  WalId wal_id;
};

/// A usage error if a table that is there cannot keep unknown fields as configured.
Status CheckTables(Workspace& workspace) {
  for (const auto& [name, config] : workspace.config().tables) {
    if (config.unknown_fields_column.empty()) continue;
    FIRN_ASSIGN_OR_RETURN(const auto table, FindTableIfThere(workspace, name));
    if (!table) continue;
    FIRN_RETURN_NOT_OK(AsUsageError(
        AddContext(CheckUnknownFields(workspace.config(), *table), "tables: " + name)));
  }
  return Status::OK();
}

Result<Opened> OpenAll(const CommandContext& context) {
  Opened opened;
  FIRN_ASSIGN_OR_RETURN(opened.workspace, OpenWorkspace(context, WorkspaceMode::kCreate));
  FIRN_RETURN_NOT_OK(CheckTables(*opened.workspace));
  FIRN_ASSIGN_OR_RETURN(opened.wal_id,
                        wal::OpenWalRoot(context.runtime, opened.workspace->wal_store()));
  return opened;
}

/// An empty catalog beside a log that has tables is likely a new one in the wrong place,
/// or in the place of one that was lost.
void WarnIfCatalogIsNew(Workspace& workspace) {
  const auto tables = ListAllTables(workspace.catalog());
  if (!tables.ok() || !tables->empty()) return;
  const auto logged = ListLoggedTables(workspace.wal_store());
  if (!logged.ok() || logged->empty()) return;
  LogWarning(fmt::format(
      "the catalog has no table, but the WAL holds {}: if they were not dropped, stop "
      "this, and name the catalog that has them, or bring its file back",
      SumText(*logged)));
}

}  // namespace

Status RunServe(const CommandContext& context) {
  CommandContext unstopped = context;
  // The stores are not to give up at a stop: what was taken is written after it.
  unstopped.stop = {};
  for (int failures = 1;; ++failures) {
    const Result<Opened> opened = OpenAll(unstopped);
    if (opened.ok()) {
      WarnIfCatalogIsNew(*opened->workspace);
      return Serving(*opened->workspace, opened->wal_id).Run(context.stop);
    }
    // A store or catalog that is down at the start is waited for as it is later.
    if (!IsError(opened.status(), ErrorKind::kUnavailable)) return opened.status();
    const Duration wait = WaitAfter(failures, kOpenBackoff, context.runtime);
    LogWarning(fmt::format("not serving yet, tried again in {}: {}", FormatDuration(wait),
                           ErrorText(opened.status())));
    if (!SleepUnlessStopped(context.runtime, wait, context.stop).ok())
      return Status::OK();
  }
}

}  // namespace firn::cli
