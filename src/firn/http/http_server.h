#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "firn/core/memory_budget.h"
#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/http/http_client.h"

namespace firn::http {

/// A request as it arrived, whole.
struct ServerRequest {
  /// As sent: "POST".
  std::string method;
  /// As sent: path and query, percent-encoded.
  std::string target;
  /// In the order of their arrival; those of a trailer are left out.
  std::vector<Header> headers;
  /// Of a chunked request without the chunks' frames.
  std::string body;
  /// "127.0.0.1:51234".
  std::string peer;
  /// What the body takes of `body_memory`; to be held as long as the body is.
  MemoryReservation memory = {};
};

/// Answers one request. From any thread; the second call does nothing, nor does one after
/// the answer took longer than `answer_timeout`, the client has gone or the server has
/// ended. Content-Length and Connection are the server's to add.
using Answer = std::function<void(Response)>;

/// Called on a thread of the server, several at once: must not wait.
using Handler = std::function<void(ServerRequest, Answer)>;

struct ServerOptions {
  /// A numeric address, "127.0.0.1" or "::1".
  std::string address = "127.0.0.1";
  /// 0 = one that is free.
  std::uint16_t port = 0;
  int threads = 2;
  /// Of a request line and its headers; more is answered with 431.
  std::int64_t header_bytes_max = 16 << 10;
  /// As it is sent, compressed or not; more is answered with 413.
  std::int64_t body_bytes_max = 16 << 20;
  /// What bodies take their memory of, before they are read; one that finds none is
  /// answered with 503. Without it, bodies are not counted.
  std::optional<MemoryShare> body_memory = std::nullopt;
  /// An answer of the server's own, which refuses a request for this reason. Without it
  /// they are plain text.
  std::function<Response(int status, const std::string& why)> refusal = {};
  /// Further connections are answered with 503.
  std::int64_t connections_max = 8192;
  /// How long a connection may be silent between two requests.
  Duration idle_timeout = std::chrono::seconds(75);
  /// From the first byte of a request to its last: a client that is slower is cut off.
  Duration request_timeout = std::chrono::seconds(60);
  /// From the last byte of a request to its answer; then it is answered with 503.
  Duration answer_timeout = std::chrono::seconds(60);
};

/// An HTTP/1.1 server: keep-alive, chunked bodies, Expect: 100-continue, pipelining.
///
/// Requests of one connection are handled one after another. A request that is no HTTP is
/// answered with 400, and its connection closed. Thread-safe.
class HttpServer {
 public:
  /// Listens once it returns. Invalid, naming the address, if that cannot be. `runtime`
  /// must outlive the server.
  static Result<std::unique_ptr<HttpServer>> Start(Runtime& runtime,
                                                   ServerOptions options,
                                                   Handler handler);

  /// Ends all connections at once.
  virtual ~HttpServer() = default;

  virtual std::uint16_t port() const = 0;

  /// Takes no more connections, closes those without a request, and the others behind
  /// the answer to the one they have. Does not wait.
  virtual void Drain() = 0;

  /// That are open now.
  virtual std::int64_t connection_count() const = 0;

  /// Connections and requests answered with 503 for want of room, unread.
  virtual std::int64_t refused_count() const = 0;
};

}  // namespace firn::http
