#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "firn/commit/test_table.h"
#include "firn/core/bounded_queue.h"
#include "firn/core/memory_budget.h"
#include "firn/http/http_server.h"
#include "firn/iceberg/catalog/memory_catalog.h"
#include "firn/iceberg/io/file_io.h"
#include "firn/jobs/http_endpoints.h"
#include "firn/jobs/pipeline.h"
#include "firn/storage/faulty_store.h"
#include "firn/storage/memory_store.h"

namespace firn::jobs {

/// A pipeline over a catalog and stores in memory, and what a client sees of it. The
/// table is "db.t": a long `id`, required, and a string `name`.
class TestPipeline {
 public:
  TestPipeline();
  ~TestPipeline();

  PipelineOptions& options() { return options_; }
  commit::ScriptedCatalog::Script& catalog_script() { return catalog_.script; }
  iceberg::Catalog& catalog() { return catalog_; }
  storage::FaultHook& wal_faults() { return wal_faults_; }
  metrics::Registry& metrics() { return metrics_; }
  /// From the next Start on.
  UploadOptions& upload_options() { return upload_options_; }
  MemoryBudget& buffer_memory() { return buffer_memory_; }
  Pipeline& pipeline() { return *pipeline_; }

  /// Begins another process over the same catalog and WAL.
  void Start();
  void Close() { pipeline_->Close(); }

  /// What is answered: "200 {...}".
  std::string Request(const std::string& method, const std::string& target,
                      const std::string& body = "",
                      std::vector<http::Header> headers = {});
  std::string Post(const std::string& body, const std::string& table = "db.t") {
    return Request("POST", "/v1/tables/" + table, body);
  }
  /// Gives what waits for the answer, which comes later.
  std::function<std::string()> PostLater(const std::string& body);

  /// Waits until a condition holds; false if it takes longer than any test should.
  bool Eventually(const std::function<bool()>& condition);
  /// Of main's snapshot; 0 without one.
  std::int64_t RowsOf(const std::string& table = "db.t");
  bool EventuallyHasRows(std::int64_t rows, const std::string& table = "db.t");
  /// Of all tables.
  std::size_t Segments();
  /// Of main's history.
  std::int64_t Snapshots();
  void AddColumn(const std::string& name);
  /// Of db.t: "id: long, name: string".
  std::string Columns();

 private:
  /// Gives what waits for the answer.
  std::function<std::string()> Send(const std::string& method, const std::string& target,
                                    const std::string& body,
                                    std::vector<http::Header> headers);

  Runtime& runtime_ = SystemRuntime();
  MemoryBudget buffer_memory_{runtime_, 64 << 20};
  MemoryBudget shift_memory_{runtime_, 1LL << 30};
  metrics::Registry metrics_{runtime_};
  storage::MemoryStore wal_memory_{runtime_};
  storage::FaultHook wal_faults_;
  storage::FaultyStore wal_;
  storage::MemoryStore data_{runtime_};
  iceberg::FileIo io_;
  iceberg::MemoryCatalog memory_catalog_{runtime_, "memory:///warehouse"};
  commit::ScriptedCatalog catalog_{memory_catalog_};
  PipelineOptions options_;
  UploadOptions upload_options_ = {.decoded_bytes_max = 1000};
  std::unique_ptr<Pipeline> pipeline_;
  std::unique_ptr<HttpEndpoints> endpoints_;
};

}  // namespace firn::jobs
