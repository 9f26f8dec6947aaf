#include "firn/jobs/file_delivery.h"

#include <optional>
#include <utility>

#include <arrow/record_batch.h>

#include "firn/core/bounded_queue.h"
#include "firn/sources/dead_letters.h"

namespace firn::jobs {
namespace {

/// A stop request cannot notify anybody: it is looked for so often.
constexpr Duration kStopPollInterval = std::chrono::milliseconds(50);

}  // namespace

wal::Acknowledgement OpenDeliveries::Acknowledge(
    const std::shared_ptr<OpenDeliveries>& open) {
  {
    MutexLock lock(open->mutex_);
    ++open->count_;
  }
  return [open](const auto& segment) { open->OnTold(segment.status()); };
}

void OpenDeliveries::OnTold(const Status& status) {
  MutexLock lock(mutex_);
  --count_;
  if (failure_.ok()) failure_ = status;
  told_.NotifyAll();
}

Status OpenDeliveries::Await(const StopToken& stop) {
  MutexLock lock(mutex_);
  while (count_ > 0 && failure_.ok()) {
    FIRN_RETURN_NOT_OK(stop.Check());
    told_.WaitFor(mutex_, kStopPollInterval);
  }
  return failure_;
}

Result<FileDelivery::Target> FileDelivery::AwaitTarget(
    const std::function<void(const Pipeline::Opened&)>& open) {
  using Opened = Result<std::shared_ptr<TableIngest>>;
  // Shared: the pipeline may tell of it after this has gone.
  auto told = std::make_shared<BoundedQueue<Opened>>(pipeline_.environment().runtime, 1);
  open([told](Opened opened) { told->Push(std::move(opened)); });
  std::optional<Opened> opened = told->Pop();
  FIRN_ASSIGN_OR_RETURN(auto ingest, *std::move(opened));
  auto layout = ingest->layout();
  return Target{.ingest = std::move(ingest), .layout = std::move(layout)};
}

Status FileDelivery::Open() {
  return AwaitTarget([this](const auto& opened) {
           pipeline_.Open(table_, Pipeline::Missing::kFail, opened);
         })
      .Value(&rows_);
}

Status FileDelivery::Evolve(const types::Schema& wanted) {
  return AwaitTarget(
             [&](const auto& opened) { pipeline_.Evolve(table_, wanted, opened); })
      .Value(&rows_);
}

Status FileDelivery::OpenDeadLetters() {
  if (letters_.ingest != nullptr) return Status::OK();
  return AwaitTarget([this](const auto& opened) {
           pipeline_.Open(sources::DeadLetterTable(table_),
                          Pipeline::Missing::kMakeDeadLetterTable, opened);
         })
      .Value(&letters_);
}

Status FileDelivery::Run(sources::FileSource& source) {
  const auto open = std::make_shared<OpenDeliveries>(pipeline_.environment().runtime);
  while (true) {
    FIRN_ASSIGN_OR_RETURN(std::optional<sources::SourceBatch> batch, source.Next(stop_));
    if (!batch) return open->Await(stop_);
    records_ += batch->delivery.range->next - batch->delivery.range->first;
    FIRN_RETURN_NOT_OK(DeliverLetters(*batch));
    FIRN_RETURN_NOT_OK(Deliver(*std::move(batch), open));
  }
}

Status FileDelivery::Deliver(sources::SourceBatch batch,
                             const std::shared_ptr<OpenDeliveries>& open) {
  // A range alone is written with the next rows, or much later: nobody waits for it.
  if (batch.delivery.has_rows())
    batch.delivery.acknowledge = OpenDeliveries::Acknowledge(open);
  return rows_.ingest->Append(std::move(batch.delivery), rows_.layout, stop_);
}

Status FileDelivery::DeliverLetters(const sources::SourceBatch& batch) {
  const bool has_letters = !batch.dead_letters.empty();
  if (has_letters) FIRN_RETURN_NOT_OK(OpenDeadLetters());
  // Once there are letters, all ranges are delivered, so that they follow each other.
  if (letters_.ingest == nullptr) return Status::OK();
  Runtime& runtime = pipeline_.environment().runtime;
  FIRN_ASSIGN_OR_RETURN(
      wal::Delivery delivery,
      sources::DeadLetterDelivery(batch, letters_.layout->schema, runtime.Now()));
  const auto open = std::make_shared<OpenDeliveries>(runtime);
  if (has_letters) delivery.acknowledge = OpenDeliveries::Acknowledge(open);
  FIRN_RETURN_NOT_OK(
      letters_.ingest->Append(std::move(delivery), letters_.layout, stop_));
  FIRN_RETURN_NOT_OK(open->Await(stop_));
  for (const auto& letter : batch.dead_letters) reasons_.Add(letter.reason_class);
  return Status::OK();
}

}  // namespace firn::jobs
