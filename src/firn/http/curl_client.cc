#include <algorithm>
#include <array>
#include <utility>

#include <curl/curl.h>

#include "firn/http/http_client.h"
#include "firn/http/stoppable_client.h"

namespace firn::http {
namespace {

constexpr long kTransferBufferBytes = 256 << 10;

struct EasyDeleter {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
using EasyHandle = std::unique_ptr<CURL, EasyDeleter>;

/// A list of libcurl's that is freed with it.
class HeaderList {
 public:
  HeaderList() = default;
  HeaderList(const HeaderList&) = delete;
  HeaderList& operator=(const HeaderList&) = delete;
  ~HeaderList() { curl_slist_free_all(list_); }

  Status Append(const std::string& line) {
    curl_slist* longer = curl_slist_append(list_, line.c_str());
    if (longer == nullptr) return Status::OutOfMemory("no memory for a header");
    list_ = longer;
    return Status::OK();
  }
  curl_slist* get() const { return list_; }

 private:
  curl_slist* list_ = nullptr;
};

/// One request under way; what libcurl's callbacks get.
struct Exchange {
  CURL* easy = nullptr;
  bool read_only = false;
  std::int64_t response_bytes_max = 0;
  int times_sent = 0;
  bool too_large = false;
  bool is_stopped = false;
  std::array<char, CURL_ERROR_SIZE> error{};
  Response response;
};

bool IsReadOnly(std::string_view method) { return method == "GET" || method == "HEAD"; }

/// Called when the connection stands and the request is about to go out. libcurl sends a
/// request again where a kept connection turns out to be closed; the server may have
/// carried it out by then.
int OnSending(void* context, char*, char*, int, int) {
  auto& exchange = *static_cast<Exchange*>(context);
  const bool again = exchange.times_sent > 0;
  if (again && !exchange.read_only) return CURL_PREREQFUNC_ABORT;
  ++exchange.times_sent;
  return CURL_PREREQFUNC_OK;
}

/// For how long a request goes on once a stop is asked for.
struct StopWatch {
  Runtime& runtime;
  const RequestStop& stop;
  Exchange& exchange;
  std::optional<BootTime> seen = std::nullopt;
};

/// Called about once a second, also while nothing comes.
int OnProgress(void* context, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  auto& watch = *static_cast<StopWatch*>(context);
  if (!watch.stop.token.stop_requested()) return 0;
  const BootTime now = watch.runtime.SinceBoot();
  if (!watch.seen) watch.seen = now;
  watch.exchange.is_stopped = now - *watch.seen >= watch.stop.grace;
  return watch.exchange.is_stopped ? 1 : 0;
}

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) + 1 - first);
}

std::size_t OnHeader(char* data, std::size_t, std::size_t size, void* context) {
  auto& exchange = *static_cast<Exchange*>(context);
  const std::string_view line(data, size);
  const std::size_t colon = line.find(':');
  // A status line: what came before belongs to an interim response.
  if (line.starts_with("HTTP/")) {
    exchange.response.headers.clear();
  } else if (colon != std::string_view::npos) {
    exchange.response.headers.push_back(
        {.name = std::string(Trimmed(line.substr(0, colon))),
         .value = std::string(Trimmed(line.substr(colon + 1)))});
  }
  return size;
}

std::size_t OnBody(char* data, std::size_t, std::size_t size, void* context) {
  auto& exchange = *static_cast<Exchange*>(context);
  std::string& body = exchange.response.body;
  const auto room = static_cast<std::size_t>(exchange.response_bytes_max) - body.size();
  if (size > room) {
    exchange.too_large = true;
    return 0;
  }
  if (body.empty()) {
    curl_off_t announced = 0;
    curl_easy_getinfo(exchange.easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &announced);
    // Growing step by step would hold the body twice.
    body.reserve(static_cast<std::size_t>(
        std::clamp<std::int64_t>(announced, 0, exchange.response_bytes_max)));
  }
  body.append(data, size);
  return size;
}

Status CheckHeader(const Header& header) {
  constexpr std::string_view kForbidden("\r\n\0", 3);
  const bool bad = header.name.empty() ||
                   header.name.find_first_of(": \t") != std::string::npos ||
                   header.name.find_first_of(kForbidden) != std::string::npos ||
                   header.value.find_first_of(kForbidden) != std::string::npos;
  if (!bad) return Status::OK();
  // The value may be a secret.
  return InvalidError(
      "the header {:?} has a name or value that cannot be sent; a header is one line",
      header.name);
}

Status FillHeaders(const std::vector<Header>& headers, HeaderList& list) {
  for (const Header& header : headers) {
    FIRN_RETURN_NOT_OK(CheckHeader(header));
    // "Name:" would tell libcurl to leave the header out.
    FIRN_RETURN_NOT_OK(list.Append(
        header.value.empty() ? header.name + ";"
                             : fmt::format("{}: {}", header.name, header.value)));
  }
  // Not libcurl's own additions: a form's type, and waiting a second for "100 Continue".
  for (const char* name : {"Content-Type", "Expect"}) {
    if (FindHeader(headers, name).has_value()) continue;
    FIRN_RETURN_NOT_OK(list.Append(fmt::format("{}:", name)));
  }
  return Status::OK();
}

/// At least one: zero would mean no limit, or libcurl's own default.
long Milliseconds(Duration duration) {
  return std::max<long>(
      1, std::chrono::duration_cast<std::chrono::milliseconds>(duration).count());
}

void SetConnection(CURL* easy, const HttpOptions& options) {
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  // Over HTTP/2 libcurl would send a refused request again.
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                   Milliseconds(options.connect_timeout));
  curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(
      easy, CURLOPT_LOW_SPEED_TIME,
      std::max<long>(
          1, std::chrono::ceil<std::chrono::seconds>(options.idle_timeout).count()));
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, kTransferBufferBytes);
  curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, kTransferBufferBytes);
  // One handle serves one request at a time: one connection is what it needs.
  curl_easy_setopt(easy, CURLOPT_MAXCONNECTS, 1L);
  curl_easy_setopt(easy, CURLOPT_USERAGENT, options.user_agent.c_str());
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, options.verify_tls ? 1L : 0L);
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, options.verify_tls ? 2L : 0L);
  if (!options.ca_file.empty()) {
    curl_easy_setopt(easy, CURLOPT_CAINFO, options.ca_file.c_str());
  }
  if (!options.use_environment_proxy) curl_easy_setopt(easy, CURLOPT_PROXY, "");
}

void SetCallbacks(Exchange& exchange) {
  CURL* easy = exchange.easy;
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, exchange.error.data());
  curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, OnSending);
  curl_easy_setopt(easy, CURLOPT_PREREQDATA, &exchange);
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, OnHeader);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, &exchange);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, OnBody);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &exchange);
}

/// `watch` must outlive the transfer.
void SetStop(CURL* easy, StopWatch& watch) {
  curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, OnProgress);
  curl_easy_setopt(easy, CURLOPT_XFERINFODATA, &watch);
}

/// `request` and `body` must outlive the transfer.
void SetRequest(CURL* easy, const Request& request, std::string_view body) {
  curl_easy_setopt(easy, CURLOPT_URL, request.url.c_str());
  // "/a/../b" is a name of its own in an object store.
  curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
  if (request.method == "HEAD") {
    curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    return;
  }
  // Servers want a length from these, also of nothing.
  const bool has_body = !body.empty() || request.method == "PUT" ||
                        request.method == "POST" || request.method == "PATCH";
  if (has_body) {
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(body.size()));
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body.empty() ? "" : body.data());
  }
  curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request.method.c_str());
}

std::string_view WhatHappened(CURLcode code, const Exchange& exchange) {
  if (exchange.is_stopped) return "no answer yet, and given up to stop";
  if (code == CURLE_ABORTED_BY_CALLBACK && !exchange.read_only) {
    return "the server closed the connection";
  }
  if (exchange.error.front() != '\0') return exchange.error.data();
  return curl_easy_strerror(code);
}

Status FailureOf(CURLcode code, const Exchange& exchange, const Request& request) {
  const std::string where =
      fmt::format("{} {}", request.method, UrlForMessage(request.url));
  const std::string_view what = WhatHappened(code, exchange);
  if (code == CURLE_URL_MALFORMAT || code == CURLE_UNSUPPORTED_PROTOCOL ||
      code == CURLE_SSL_CACERT_BADFILE) {
    return InvalidError("{}: {}", where, what);
  }
  if (exchange.times_sent == 0)
    return Error(ErrorKind::kUnavailable, "{}: {}", where, what);
  if (exchange.too_large) {
    const std::string text = fmt::format("{}: the response is larger than {} bytes",
                                         where, exchange.response_bytes_max);
    if (exchange.read_only) return Status::IOError(text);
    return MakeError(ErrorKind::kOutcomeUnknown, text);
  }
  if (exchange.read_only) return Error(ErrorKind::kUnavailable, "{}: {}", where, what);
  return Error(ErrorKind::kOutcomeUnknown, "{}: {}; the server may have carried it out",
               where, what);
}

class CurlClient : public HttpClient {
 public:
  CurlClient(Runtime& runtime, HttpOptions options, RequestStop stop)
      : options_(std::move(options)),
        stop_(std::move(stop)),
        runtime_(runtime),
        mutex_(runtime) {}

  Result<Response> Send(const Request& request, std::string_view body) override {
    EasyHandle easy = TakeHandle();
    if (easy == nullptr) return Status::OutOfMemory("libcurl gives no handle");
    Result<Response> response = Perform(easy.get(), request, body);
    // Keeps the connection, forgets the request.
    curl_easy_reset(easy.get());
    PutBack(std::move(easy));
    return response;
  }

 private:
  Result<Response> Perform(CURL* easy, const Request& request,
                           std::string_view body) const {
    HeaderList headers;
    FIRN_RETURN_NOT_OK(FillHeaders(request.headers, headers));
    Exchange exchange{.easy = easy,
                      .read_only = IsReadOnly(request.method),
                      .response_bytes_max = request.response_bytes_max > 0
                                                ? request.response_bytes_max
                                                : options_.response_bytes_max};
    SetConnection(easy, options_);
    SetCallbacks(exchange);
    StopWatch watch{.runtime = runtime_, .stop = stop_, .exchange = exchange};
    SetStop(easy, watch);
    SetRequest(easy, request, body);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers.get());
    curl_easy_setopt(
        easy, CURLOPT_TIMEOUT_MS,
        Milliseconds(request.timeout > Duration(0) ? request.timeout : options_.timeout));
    const CURLcode code = curl_easy_perform(easy);
    if (code != CURLE_OK) return FailureOf(code, exchange, request);
    long status = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    exchange.response.status = static_cast<int>(status);
    return std::move(exchange.response);
  }

  EasyHandle TakeHandle() {
    MutexLock lock(mutex_);
    if (idle_.empty()) return EasyHandle(curl_easy_init());
    // The last one used is the likeliest to be connected still.
    EasyHandle easy = std::move(idle_.back());
    idle_.pop_back();
    return easy;
  }

  void PutBack(EasyHandle easy) {
    MutexLock lock(mutex_);
    if (idle_.size() < options_.idle_connections_max) idle_.push_back(std::move(easy));
  }

  const HttpOptions options_;
  const RequestStop stop_;
  Runtime& runtime_;
  Mutex mutex_;
  std::vector<EasyHandle> idle_;  // guarded by mutex_
};

}  // namespace

Result<std::unique_ptr<HttpClient>> MakeHttpClient(Runtime& runtime,
                                                   HttpOptions options) {
  return MakeStoppableHttpClient(runtime, std::move(options), {});
}

Result<std::unique_ptr<HttpClient>> MakeStoppableHttpClient(Runtime& runtime,
                                                            HttpOptions options,
                                                            RequestStop stop) {
  static const CURLcode initialized = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (initialized != CURLE_OK) {
    return Status::UnknownError("libcurl cannot start: ",
                                curl_easy_strerror(initialized));
  }
  return std::make_unique<CurlClient>(runtime, std::move(options), std::move(stop));
}

}  // namespace firn::http
