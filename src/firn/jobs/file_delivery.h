#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/jobs/pipeline.h"
#include "firn/sources/files/file_source.h"
#include "firn/sources/source.h"

namespace firn::jobs {

/// Deliveries that were handed over, until each was acknowledged. Thread-safe.
class OpenDeliveries {
 public:
  explicit OpenDeliveries(Runtime& runtime) : mutex_(runtime), told_(runtime) {}

  /// For one more delivery.
  static wal::Acknowledgement Acknowledge(const std::shared_ptr<OpenDeliveries>& open);
  /// Waits until all are durable; the first error if one is not. Cancelled if `stop`
  /// fires first.
  Status Await(const StopToken& stop);

 private:
  void OnTold(const Status& status);

  Mutex mutex_;
  CondVar told_;
  std::int64_t count_ = 0;  // guarded by mutex_
  Status failure_;          // guarded by mutex_
};

/// Takes the records of one file into a pipeline: rows into the table's buffer, those
/// that do not fit into that of its dead letters, which are durable before the rows of
/// their range are. Used by one thread.
class FileDelivery {
 public:
  /// All must outlive the delivery.
  FileDelivery(Pipeline& pipeline, std::string table, const StopToken& stop)
      : pipeline_(pipeline), table_(std::move(table)), stop_(stop) {}

  /// Opens the table. Errors as of Pipeline::Open.
  Status Open();
  /// Opens it anew, once it takes rows of `wanted`. Errors as of Pipeline::Evolve.
  Status Evolve(const types::Schema& wanted);
  /// And that of its dead letters, which is made if it is missing.
  Status OpenDeadLetters();

  const TableUuid& table_uuid() const { return rows_.layout->uuid; }
  /// Null unless it was opened.
  const TableUuid* dead_letters_uuid() const {
    return letters_.ingest == nullptr ? nullptr : &letters_.layout->uuid;
  }
  const types::Schema& schema() const { return rows_.layout->schema; }

  /// Reads the source to its end; all of it is durable once this returns OK. After an
  /// error what was durable before stays so. REQUIRES: Open.
  Status Run(sources::FileSource& source);

  std::int64_t records() const { return records_; }
  const sources::ReasonCounts& dead_letters() const { return reasons_; }

 private:
  struct Target {
    std::shared_ptr<TableIngest> ingest;
    std::shared_ptr<const wal::TableLayout> layout;
  };

  /// Waits for what `open` tells.
  Result<Target> AwaitTarget(const std::function<void(const Pipeline::Opened&)>& open);
  Status Deliver(sources::SourceBatch batch, const std::shared_ptr<OpenDeliveries>& open);
  Status DeliverLetters(const sources::SourceBatch& batch);

  Pipeline& pipeline_;
  const std::string table_;
  const StopToken& stop_;
  Target rows_;
  Target letters_;
  std::int64_t records_ = 0;
  sources::ReasonCounts reasons_;
};

}  // namespace firn::jobs
