#pragma once

#include <functional>
#include <string>

#include "firn/http/http_server.h"
#include "firn/jobs/pipeline.h"
#include "firn/jobs/upload.h"
#include "firn/metrics/metrics.h"

namespace firn::jobs {

/// What HTTP requests ask of a pipeline:
///
///   POST /v1/tables/<namespace.table>   NDJSON, plain, gzip or zstd; answered once it is
///                                       durable: {"accepted": n, "dead_lettered": n};
///                                       with ?strict=true nothing is taken if a record
///                                       is bad
///   GET /healthz, /readyz, /metrics
///
/// Of a body with bad records the others are accepted; the bad ones become dead letters,
/// and the first of them are named in the answer. 400: the body as a whole is wrong; 404:
/// no such table; 413: too large; 415: compressed otherwise; 503: to be sent again later,
/// for nothing of it was taken, or it is not known whether it was. Thread-safe.
class HttpEndpoints {
 public:
  /// How the records of a table are read, unless the request says otherwise.
  using OptionsOf = std::function<UploadOptions(const std::string& table)>;

  /// Both must outlive the endpoints, and the endpoints the server that calls them.
  HttpEndpoints(Runtime& runtime, Pipeline& pipeline, const metrics::Registry& metrics,
                OptionsOf options_of)
      : runtime_(runtime),
        pipeline_(pipeline),
        metrics_(metrics),
        options_of_(std::move(options_of)) {}

  void Handle(http::ServerRequest request, http::Answer answer);

 private:
  void HandleUpload(http::ServerRequest request, http::Answer answer);
  http::Response Look(const std::string& path);

  Runtime& runtime_;
  Pipeline& pipeline_;
  const metrics::Registry& metrics_;
  const OptionsOf options_of_;
};

}  // namespace firn::jobs
