#include "firn/jobs/http_endpoints.h"

#include <memory>
#include <optional>
#include <utility>

#include "firn/core/percent_decoded.h"
#include "firn/sources/http/body_decoding.h"

namespace firn::jobs {
namespace {

constexpr std::string_view kTablePath = "/v1/tables/";

std::string PathOf(const std::string& target) {
  return target.substr(0, target.find('?'));
}

/// Invalid, naming it, for a parameter that there is not.
Status ReadQuery(std::string_view target, UploadOptions& options) {
  const std::size_t mark = target.find('?');
  std::string_view query = target.substr(std::min(mark, target.size() - 1) + 1);
  while (!query.empty()) {
    const std::string_view parameter = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(parameter.size() + 1, query.size()));
    if (parameter == "strict=true" || parameter == "strict=false") {
      options.strict = parameter.ends_with("true");
    } else if (!parameter.empty()) {
      return InvalidError("{}: the only parameter is strict, true or false", parameter);
    }
  }
  return Status::OK();
}

http::Response Text(int status, std::string text) {
  return {.status = status,
          .headers = {{"Content-Type", "text/plain; charset=utf-8"}},
          .body = std::move(text) + "\n"};
}

http::Response WrongMethod(const char* allowed) {
  http::Response response =
      ErrorResponse(405, fmt::format("this takes {} only", allowed));
  response.headers.push_back({"Allow", allowed});
  return response;
}

}  // namespace

void HttpEndpoints::Handle(http::ServerRequest request, http::Answer answer) {
  const std::string path = PathOf(request.target);
  if (path.starts_with(kTablePath)) {
    if (request.method != "POST") return answer(WrongMethod("POST"));
    return HandleUpload(std::move(request), std::move(answer));
  }
  const bool looks = request.method == "GET" || request.method == "HEAD";
  answer(looks ? Look(path) : WrongMethod("GET"));
}

void HttpEndpoints::HandleUpload(http::ServerRequest request, http::Answer answer) {
  const std::string path = PathOf(request.target);
  const auto table = PercentDecoded(std::string_view(path).substr(kTablePath.size()));
  if (!table) {
    return answer(ErrorResponse(400, fmt::format("{}: not percent-encoded", path)));
  }
  const auto encoding = http::FindHeader(request.headers, "Content-Encoding");
  if (!sources::IsKnownEncoding(encoding.value_or(""))) {
    return answer(ErrorResponse(415, "Content-Encoding: only gzip, zstd and identity"));
  }
  UploadOptions options = options_of_(*table);
  const Status read = ReadQuery(request.target, options);
  if (!read.ok()) return answer(ErrorResponse(400, ErrorText(read)));
  std::make_shared<Upload>(runtime_, pipeline_, *table, std::move(options),
                           std::move(request), std::move(answer))
      ->Start();
}

http::Response HttpEndpoints::Look(const std::string& path) {
  if (path == "/healthz") return Text(200, "ok");
  if (path == "/readyz") {
    return pipeline_.is_ready() ? Text(200, "ready")
                                : Text(503, "the catalog was not read yet");
  }
  if (path == "/metrics") {
    return {.status = 200,
            .headers = {{"Content-Type", std::string(metrics::kTextContentType)}},
            .body = metrics_.Text()};
  }
  return ErrorResponse(404, fmt::format("there is no {}; records go to POST {}"
                                        "<namespace.table>",
                                        path, kTablePath));
}

}  // namespace firn::jobs
