#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "firn/core/runtime.h"
#include "firn/http/http_server.h"

namespace firn::http {

/// What the connections of a server share.
struct ServerShared {
  ServerShared(Runtime& runtime, ServerOptions server_options, Handler server_handler)
      : options(std::move(server_options)),
        handler(std::move(server_handler)),
        gate(runtime) {}

  const ServerOptions options;
  const Handler handler;
  std::atomic<std::int64_t> connection_count = 0;
  std::atomic<std::int64_t> refused_count = 0;
  std::atomic<bool> draining = false;

  /// Answers come from any thread, also when the server ends: none is posted after that.
  Mutex gate;
  bool ended = false;  // guarded by gate
};

/// One connection of a client, as a chain of asynchronous steps on a strand of its own.
class ServerConnection : public std::enable_shared_from_this<ServerConnection> {
 public:
  ServerConnection(boost::asio::ip::tcp::socket socket,
                   std::shared_ptr<ServerShared> shared);
  ~ServerConnection();

  /// Serves requests until the connection is closed.
  void Start();
  /// Answers whatever is asked with 503, and closes.
  void Refuse();
  /// See HttpServer::Drain.
  void Drain();

 private:
  using ErrorCode = boost::system::error_code;

  void AwaitRequest();
  void ReadHeader();
  void OnHeader(ErrorCode error);
  /// True once `bytes` of memory are the body's.
  bool HasBodyMemory(std::int64_t bytes);
  void ReadBody();
  /// Reads a body whose size nobody said, a piece at a time.
  void ReadPiece();
  void OnPiece(ErrorCode error);
  void OnBody(ErrorCode error);
  void Handle();
  /// Of the request `number` of this connection.
  Answer AnswerTo(std::uint64_t number);
  void OnAnswer(std::uint64_t number, Response response);
  void StartAnswerTimer();
  /// Answers a request that could not be read, and closes.
  void Reject(ErrorCode error);
  void CloseWith(int status, const std::string& why);
  /// With 503, unread.
  void RefuseForNow(const std::string& why);
  void Write(Response response, bool closes);
  void OnWritten(ErrorCode error, bool closes);
  /// Reads what the client still sends, so that it gets to see the answer.
  void Linger();
  void OnLingering(ErrorCode error, std::size_t bytes);

  boost::beast::tcp_stream stream_;
  const std::shared_ptr<ServerShared> shared_;
  boost::asio::steady_timer answer_timer_;
  boost::beast::flat_buffer buffer_;
  std::unique_ptr<boost::beast::http::request_parser<boost::beast::http::string_body>>
      parser_;
  boost::beast::http::response<boost::beast::http::string_body> response_;
  /// Of the body that is being read.
  MemoryReservation body_memory_;
  std::string peer_;
  /// Waits for the first byte of a request.
  bool is_idle_ = false;
  /// Requests that were handed to the handler.
  std::uint64_t handled_ = 0;
  /// The last of them is not answered yet.
  bool owes_answer_ = false;
  bool keeps_alive_ = false;
  bool is_head_ = false;
  std::size_t lingered_bytes_ = 0;
};

}  // namespace firn::http
