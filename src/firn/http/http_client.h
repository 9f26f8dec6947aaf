#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "firn/core/runtime.h"
#include "firn/core/status.h"

namespace firn::http {

struct Header {
  std::string name;
  std::string value;

  bool operator==(const Header&) const = default;
};

/// The value of the first header of that name, whatever the case of its letters. Points
/// into `headers`.
std::optional<std::string_view> FindHeader(const std::vector<Header>& headers,
                                           std::string_view name);

struct Request {
  /// Upper case: "GET".
  std::string method = "GET";
  /// Absolute, "http" or "https", percent-encoded as it is to be sent.
  std::string url;
  std::vector<Header> headers;
  /// From the first attempt to connect to the last byte of the response. Zero: the
  /// client's.
  Duration timeout{0};
  /// The largest body of a response. Zero: the client's.
  std::int64_t response_bytes_max = 0;
};

struct Response {
  int status = 0;
  /// In the order of their arrival; those of the last response if there were interim
  /// ones.
  std::vector<Header> headers;
  std::string body;
};

/// Sends HTTP/1.1 requests and waits for the responses. Thread-safe.
///
/// A response of any status is OK: callers judge the status. Redirects are not followed.
/// Each request is sent at most once, so a retry is always the caller's; a GET or HEAD
/// may be sent again where the server closed a kept connection.
///
/// Errors:
/// - Unavailable: it surely never reached the server (no such host, connection refused,
///   TLS failed); or it failed in any way but was a GET or HEAD.
/// - OutcomeUnknown: any other request of which the first byte may have been sent
///   (time-out, connection lost, response cut short or larger than allowed).
/// - Without a kind: bad input (URL, header with a line break), and a GET or HEAD whose
///   response is larger than allowed.
/// Messages name the method, the URL as UrlForMessage gives it, and what happened.
class HttpClient {
 public:
  virtual ~HttpClient() = default;

  virtual Result<Response> Send(const Request& request, std::string_view body = {}) = 0;
};

/// Without user, password, query and fragment, which may hold secrets.
std::string UrlForMessage(std::string_view url);

struct HttpOptions {
  Duration connect_timeout = std::chrono::seconds(10);
  Duration timeout = std::chrono::minutes(2);
  /// A transfer of less than a byte per second for so long is given up. Whole seconds.
  Duration idle_timeout = std::chrono::seconds(30);
  std::int64_t response_bytes_max = 64 << 20;
  /// Connections that are kept for later requests, at most.
  std::size_t idle_connections_max = 16;
  std::string user_agent = "firn";
  bool verify_tls = true;
  /// A PEM file of certificates that are trusted. Empty: the system's.
  std::string ca_file;
  /// Takes http_proxy, https_proxy and no_proxy from the environment.
  bool use_environment_proxy = true;
};

/// A client over libcurl. Keeps connections open. Uses no signals.
/// `runtime` must outlive it.
Result<std::unique_ptr<HttpClient>> MakeHttpClient(Runtime& runtime, HttpOptions options);

}  // namespace firn::http
