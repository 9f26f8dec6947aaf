#include "serving.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "chance.h"
#include "firn/jobs/pipeline.h"
#include "ingest.h"
#include "rules.h"
#include "shifter.h"

namespace firn::sim {
namespace {

constexpr int kClients = 2;
constexpr std::uint64_t kRowsMax = 4;
constexpr Duration kShiftAgeMin = std::chrono::milliseconds(700);
/// No key can have more bytes than a file: files of one shift never overlap.
constexpr std::int64_t kFileBytes = 1 << 20;

class Server {
 public:
  explicit Server(Process& process)
      : process_(process),
        world_(process.world),
        node_(process.node),
        shift_memory_(node_, process.memory.limit_bytes()),
        pipeline_({.runtime = node_,
                   .buffer_memory = process.memory,
                   .shift_memory = shift_memory_,
                   .metrics = process.metrics,
                   .catalog = process.catalog,
                   .io = process.io,
                   .wal_store = process.wal,
                   .wal_id = process.root.id,
                   .events = [](jobs::EventLevel, const std::string&) {}},
                  OptionsOf(process)) {}

  void Run(int& left) {
    {
      std::vector<Thread> clients;
      for (int i = 0; i < kClients; ++i) {
        clients.emplace_back(node_, fmt::format("client{}", i), [&] { Send(left); });
      }
    }
    pipeline_.Close();
    if (shift_memory_.used_bytes() == 0) return;
    world_.Report(fmt::format("{} ends with memory for shifts taken", node_.name()));
  }

 private:
  using Ingest = Result<std::shared_ptr<jobs::TableIngest>>;

  static jobs::PipelineOptions OptionsOf(const Process& process) {
    jobs::PipelineOptions options;
    options.buffer = BufferOptionsOf(process);
    // Less often while clients think for long.
    options.trigger.max_age =
        std::max(kShiftAgeMin, process.world.plan().thinking_time_max / 8);
    options.shift_options = [plan = process.world.plan()](const std::string&) mutable {
      plan.file_bytes = kFileBytes;
      return ShiftOptionsOf(plan);
    };
    return options;
  }

  void Send(int& left) {
    while (left-- > 0 && !node_.crashed()) {
      Deliver(world_.records().New(1 + node_.Random64() % kRowsMax, node_));
      if (process_.memory.used_bytes() > process_.memory.limit_bytes()) {
        world_.Report(fmt::format("{} took more memory than it may", node_.name()));
      }
      node_.Sleep(UpTo(node_, world_.plan().thinking_time_max));
    }
  }

  void Deliver(std::vector<shift::TestRow> rows) {
    pipeline_.Open(ToString(world_.table()), jobs::Pipeline::Missing::kFail,
                   [this, rows = std::move(rows)](const Ingest& ingest) {
                     Note(ingest.ok() ? Append(**ingest, rows) : ingest.status());
                   });
  }

  Status Append(jobs::TableIngest& ingest, const std::vector<shift::TestRow>& rows) {
    const auto layout = ingest.layout();
    const auto acknowledge = [this, rows](const auto& segment) {
      if (segment.ok() && !node_.crashed()) world_.records().Acknowledge(rows);
    };
    const Status taken = ingest.TryAppend(
        {.rows = ToBatch(layout->schema, rows), .acknowledge = acknowledge}, layout);
    if (IsBroken(Rule::kAcknowledgement) && taken.ok()) {
      world_.records().Acknowledge(rows);
    }
    return taken;
  }

  /// What is to be sent again later is nobody's fault.
  void Note(const Status& status) {
    const bool is_expected = status.ok() || IsError(status, ErrorKind::kUnavailable) ||
                             IsError(status, ErrorKind::kConflict);
    if (is_expected || node_.crashed()) return;
    world_.Report(fmt::format("{}: {}", node_.name(), status.ToString()));
  }

  Process& process_;
  World& world_;
  SimNode& node_;
  MemoryBudget shift_memory_;
  jobs::Pipeline pipeline_;
};

}  // namespace

void RunServer(Process& process, int& left) { Server(process).Run(left); }

}  // namespace firn::sim
