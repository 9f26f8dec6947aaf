#include "ingest.h"

#include <memory>
#include <utility>

#include "firn/wal/table_buffer.h"

namespace firn::sim {
namespace {

constexpr std::uint64_t kRowsMax = 4;
constexpr int kClients = 2;
constexpr Duration kThinkingTimeMax = std::chrono::milliseconds(300);
constexpr Duration kFlushAge = std::chrono::milliseconds(200);
constexpr Duration kFlushPoll = std::chrono::milliseconds(50);

wal::TableLayout LayoutOf(const iceberg::TableMetadata& metadata) {
  return {.uuid = metadata.table_uuid,
          .schema = CurrentSchema(metadata),
          .spec = DefaultSpec(metadata),
          .order = DefaultSortOrder(metadata)};
}

class Ingest {
 public:
  explicit Ingest(Process& process)
      : process_(process), world_(process.world), node_(process.node) {}

  Status Run() {
    FIRN_ASSIGN_OR_RETURN(const iceberg::LoadedTable table,
                          process_.catalog.LoadTable(world_.table()));
    layout_ = LayoutOf(table.metadata);
    FIRN_RETURN_NOT_OK(OpenBuffer());
    deliveries_left_ = world_.plan().deliveries;
    Thread flusher(node_, "flush", [this] { FlushUntilDone(); });
    {
      std::vector<Thread> clients;
      for (int i = 0; i < kClients; ++i) {
        clients.emplace_back(node_, fmt::format("client{}", i), [this] { Deliver(); });
      }
    }
    is_done_ = true;
    flusher.Join();
    return buffer_->Close();
  }

 private:
  Status OpenBuffer() {
    const wal::TableBufferOptions options = {.flush_bytes = world_.plan().flush_bytes,
                                             .flush_age = kFlushAge,
                                             .shard = {.node = node_.name()}};
    FIRN_ASSIGN_OR_RETURN(
        buffer_,
        wal::TableBuffer::Make(node_, process_.memory, process_.wal, layout_, options));
    return Status::OK();
  }

  void FlushUntilDone() {
    while (!is_done_ && !node_.crashed()) {
      node_.Sleep(kFlushPoll);
      (void)buffer_->FlushIfDue();
    }
  }

  void Deliver() {
    while (deliveries_left_-- > 0 && !node_.crashed()) {
      auto rows = world_.records().New(1 + node_.Random64() % kRowsMax, node_);
      const auto batch = ToBatch(layout_.schema, rows);
      const auto acknowledge = [this, rows = std::move(rows)](const auto& segment) {
        if (segment.ok() && !node_.crashed()) world_.records().Acknowledge(rows);
      };
      (void)buffer_->Append({.rows = batch, .acknowledge = acknowledge},
                            node_.crash_token());
      node_.Sleep(Duration(static_cast<std::int64_t>(
          node_.Random64() % static_cast<std::uint64_t>(kThinkingTimeMax.count()))));
    }
  }

  Process& process_;
  World& world_;
  SimNode& node_;
  wal::TableLayout layout_;
  std::unique_ptr<wal::TableBuffer> buffer_;
  int deliveries_left_ = 0;
  bool is_done_ = false;
};

}  // namespace

void RunIngest(Process& process) {
  const Status status = Ingest(process).Run();
  if (status.ok() || process.node.crashed()) return;
  process.world.Report(fmt::format("{}: {}", process.node.name(), status.ToString()));
}

}  // namespace firn::sim
