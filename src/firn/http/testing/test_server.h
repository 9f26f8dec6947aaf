#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "firn/core/runtime.h"
#include "firn/http/http_client.h"

namespace firn::http {

struct ReceivedRequest {
  std::string method;
  /// Path and query, as sent.
  std::string target;
  std::vector<Header> headers;
  std::string body;
};

/// What a test server does with a request that it has read whole.
struct Reply {
  enum class End {
    kNone,
    /// Closes the connection without a word.
    kDrop,
    /// Announces the whole body, sends half of it, closes the connection.
    kTruncate,
    /// Sends all, then closes the connection without having said so.
    kCloseAfter,
  };

  int status = 200;
  /// Without Content-Length, which the server adds.
  std::vector<Header> headers;
  std::string body;
  End end = End::kNone;
};

inline Reply Drop() { return {.end = Reply::End::kDrop}; }

/// Holds whoever comes until it is opened: a server that does not answer.
class Gate {
 public:
  explicit Gate(Runtime& runtime) : mutex_(runtime), opened_(runtime) {}
  void Open();
  void Wait();

 private:
  Mutex mutex_;
  CondVar opened_;
  bool open_ = false;  // guarded by mutex_
};

/// An HTTP/1.1 server for tests, on 127.0.0.1 and a free port: answers each request from
/// a function, keeps connections open, and breaks them when told to.
///
/// The function may apply a request and then Drop() it, wait at a Gate, or send the
/// request on with an HttpClient and spoil the answer: a proxy with faults. It is called
/// from one thread for each connection, so what it uses must outlive the server. Chunked
/// requests are not understood.
class TestServer {
 public:
  using Handler = std::function<Reply(const ReceivedRequest&)>;

  /// Ends the process if there is no port. `runtime` must outlive the server.
  TestServer(Runtime& runtime, Handler handler);
  /// Closes all connections; waits for handlers under way, so open their gates first.
  ~TestServer();

  /// "http://127.0.0.1:<port>" and `target`.
  std::string Url(std::string_view target = "") const;

  /// The next `count` connections are reset when their first byte arrives: the request is
  /// neither read nor recorded.
  void ResetConnections(int count) { to_reset_ = count; }

  /// All that were read so far, in order.
  std::vector<ReceivedRequest> Requests();
  /// Connections accepted so far.
  int connections() const { return connections_; }

 private:
  void AcceptUntilClosed();
  void Serve(int socket);
  bool AnswerOne(int socket, std::string& buffered);

  Runtime& runtime_;
  const Handler handler_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<int> to_reset_ = 0;
  std::atomic<int> connections_ = 0;
  Mutex mutex_;
  std::vector<ReceivedRequest> requests_;  // guarded by mutex_
  std::map<int, Thread> serving_;          // by socket; guarded by mutex_
  Thread acceptor_;
};

}  // namespace firn::http
