#include "firn/jobs/test_pipeline.h"

#include <utility>

#include <fmt/ranges.h>

#include "firn/core/whole_number.h"
#include "firn/types/column_list.h"
#include "firn/wal/wal_root.h"

namespace firn::jobs {
namespace {

constexpr Duration kPatience = std::chrono::seconds(20);

std::string TextOf(const http::Response& response) {
  std::string text = fmt::format("{} {}", response.status, response.body);
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace

TestPipeline::TestPipeline()
    : wal_(runtime_, wal_memory_,
           [this](const storage::StoreCall& call) {
             return wal_faults_ ? wal_faults_(call) : storage::kPass;
           }),
      io_(iceberg::FileIo::Make({{.prefix = "memory:///", .store = &data_}})
              .ValueOrDie()) {
  options_.buffer.flush_age = std::chrono::milliseconds(5);
  options_.buffer.shard = {.node = "n", .attempts_max = 1};
  options_.trigger = {.start_bytes = 1, .max_age = std::chrono::milliseconds(20)};
  options_.shift_options = [](const std::string&) { return shift::TableShiftOptions(); };
  FIRN_CHECK(catalog_.CreateNamespace("db").ok());
  const auto schema = types::ParseColumnList("id long not null, name string");
  FIRN_CHECK(
      catalog_.CreateTable({.namespace_name = "db", .name = "t"}, {.schema = *schema})
          .ok());
}

TestPipeline::~TestPipeline() = default;

void TestPipeline::Start() {
  endpoints_ = nullptr;
  pipeline_ = nullptr;
  const auto ignore = [](EventLevel, const std::string&) {};
  pipeline_ = std::make_unique<Pipeline>(
      Pipeline::Environment{
          .runtime = runtime_,
          .buffer_memory = buffer_memory_,
          .shift_memory = shift_memory_,
          .metrics = metrics_,
          .catalog = catalog_,
          .io = io_,
          .wal_store = wal_,
          .wal_id = wal::OpenWalRoot(runtime_, wal_memory_).ValueOrDie(),
          .events = ignore},
      options_);
  endpoints_ = std::make_unique<HttpEndpoints>(
      runtime_, *pipeline_, metrics_,
      [options = upload_options_](const std::string&) { return options; });
}

std::function<std::string()> TestPipeline::Send(const std::string& method,
                                                const std::string& target,
                                                const std::string& body,
                                                std::vector<http::Header> headers) {
  auto answers = std::make_shared<BoundedQueue<http::Response>>(runtime_, 1);
  endpoints_->Handle(
      {.method = method,
       .target = target,
       .headers = std::move(headers),
       .body = body,
       .peer = "127.0.0.1:1"},
      [answers](http::Response response) { answers->Push(std::move(response)); });
  return [answers] { return TextOf(*answers->Pop()); };
}

std::string TestPipeline::Request(const std::string& method, const std::string& target,
                                  const std::string& body,
                                  std::vector<http::Header> headers) {
  return Send(method, target, body, std::move(headers))();
}

std::function<std::string()> TestPipeline::PostLater(const std::string& body) {
  return Send("POST", "/v1/tables/db.t", body, {});
}

bool TestPipeline::Eventually(const std::function<bool()>& condition) {
  const BootTime end = runtime_.SinceBoot() + kPatience;
  while (!condition()) {
    if (runtime_.SinceBoot() > end) return false;
    runtime_.Sleep(std::chrono::milliseconds(2));
  }
  return true;
}

std::int64_t TestPipeline::RowsOf(const std::string& table) {
  const auto identifier = iceberg::ParseTableIdentifier(table).ValueOrDie();
  const auto loaded = memory_catalog_.LoadTable(identifier);
  if (!loaded.ok()) return 0;
  const iceberg::Snapshot* snapshot = CurrentSnapshot(loaded->metadata);
  if (snapshot == nullptr) return 0;
  return ParseWholeNumber<std::int64_t>(snapshot->summary.at("total-records"))
      .value_or(0);
}

bool TestPipeline::EventuallyHasRows(std::int64_t rows, const std::string& table) {
  return Eventually([&] { return RowsOf(table) >= rows; }) && RowsOf(table) == rows;
}

std::size_t TestPipeline::Segments() {
  std::size_t count = 0;
  for (const auto& object : wal_memory_.List("").ValueOrDie()) {
    count += object.key.ends_with(".parquet") ? 1 : 0;
  }
  return count;
}

std::int64_t TestPipeline::Snapshots() {
  const auto loaded =
      memory_catalog_.LoadTable({.namespace_name = "db", .name = "t"}).ValueOrDie();
  return std::ssize(loaded.metadata.snapshots);
}

void TestPipeline::AddColumn(const std::string& name) {
  const iceberg::TableIdentifier table = {.namespace_name = "db", .name = "t"};
  types::Schema schema =
      CurrentSchema(memory_catalog_.LoadTable(table).ValueOrDie().metadata);
  schema.fields.push_back(
      {.id = 100, .name = name, .type = types::Type(types::TypeKind::kString)});
  FIRN_CHECK(memory_catalog_
                 .CommitTable(table, {},
                              {iceberg::AddSchema{.schema = std::move(schema)},
                               iceberg::SetCurrentSchema{}})
                 .ok());
}

std::string TestPipeline::Columns() {
  const auto loaded =
      memory_catalog_.LoadTable({.namespace_name = "db", .name = "t"}).ValueOrDie();
  std::vector<std::string> columns;
  for (const types::Field& field : CurrentSchema(loaded.metadata).fields) {
    columns.push_back(fmt::format("{}: {}", field.name, field.type.ToString()));
  }
  return fmt::format("{}", fmt::join(columns, ", "));
}

}  // namespace firn::jobs
