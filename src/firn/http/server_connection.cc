#include "firn/http/server_connection.h"

#include <utility>

#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>

namespace firn::http {
namespace {

namespace net = boost::asio;
namespace beast = boost::beast;
using beast::http::field;

constexpr int kHttp11 = 11;
/// What is read at once while a request is awaited.
constexpr std::size_t kFirstReadBytes = 4 << 10;
/// At most so much is added at once to a body whose size nobody said; its string doubles,
/// and is there twice while it does.
constexpr std::int64_t kPieceBytesMax = 64 << 10;
constexpr std::int64_t kGrowingCopies = 3;
constexpr const char* kNoMemory = "no memory for the body now; try again later";
/// After an answer that closes, so much is read and so long, before the client is cut
/// off.
constexpr std::size_t kLingerBytesMax = 64 << 20;
constexpr auto kLingerTime = std::chrono::seconds(2);
constexpr auto kWriteTimeout = std::chrono::seconds(30);

Response Refusal(const ServerOptions& options, int status, const std::string& why) {
  if (options.refusal) return options.refusal(status, why);
  Response response = {.status = status,
                       .headers = {{"Content-Type", "text/plain; charset=utf-8"}},
                       .body = why + "\n"};
  if (status == 503) response.headers.push_back({"Retry-After", "1"});
  return response;
}

std::string PeerOf(const net::ip::tcp::socket& socket) {
  boost::system::error_code error;
  const auto endpoint = socket.remote_endpoint(error);
  if (error) return "";
  return fmt::format("{}:{}", endpoint.address().to_string(), endpoint.port());
}

ServerRequest TakeRequest(beast::http::request<beast::http::string_body>& message,
                          std::string peer) {
  ServerRequest request{.method = std::string(message.method_string()),
                        .target = std::string(message.target()),
                        .headers = {},
                        .body = std::move(message.body()),
                        .peer = std::move(peer)};
  for (const auto& header : message) {
    request.headers.push_back(
        {std::string(header.name_string()), std::string(header.value())});
  }
  return request;
}

}  // namespace

ServerConnection::ServerConnection(net::ip::tcp::socket socket,
                                   std::shared_ptr<ServerShared> shared)
    : stream_(std::move(socket)),
      shared_(std::move(shared)),
      answer_timer_(stream_.get_executor()),
      peer_(PeerOf(stream_.socket())) {
  ++shared_->connection_count;
  ErrorCode error;
  stream_.socket().set_option(net::ip::tcp::no_delay(true), error);
}

ServerConnection::~ServerConnection() { --shared_->connection_count; }

void ServerConnection::Start() {
  net::dispatch(stream_.get_executor(),
                [self = shared_from_this()] { self->AwaitRequest(); });
}

void ServerConnection::Refuse() {
  net::dispatch(stream_.get_executor(), [self = shared_from_this()] {
    self->RefuseForNow("too many connections; try again later");
  });
}

void ServerConnection::Drain() {
  net::post(stream_.get_executor(), [self = shared_from_this()] {
    if (self->is_idle_) self->stream_.close();
  });
}

void ServerConnection::AwaitRequest() {
  if (buffer_.size() > 0) return ReadHeader();
  if (shared_->draining) return stream_.close();
  is_idle_ = true;
  stream_.expires_after(shared_->options.idle_timeout);
  stream_.async_read_some(
      buffer_.prepare(kFirstReadBytes),
      [self = shared_from_this()](ErrorCode error, std::size_t bytes) {
        self->is_idle_ = false;
        if (error) return self->stream_.close();
        self->buffer_.commit(bytes);
        self->ReadHeader();
      });
}

void ServerConnection::ReadHeader() {
  parser_ = std::make_unique<beast::http::request_parser<beast::http::string_body>>();
  parser_->header_limit(static_cast<std::uint32_t>(shared_->options.header_bytes_max));
  parser_->body_limit(static_cast<std::uint64_t>(shared_->options.body_bytes_max));
  stream_.expires_after(shared_->options.request_timeout);
  beast::http::async_read_header(
      stream_, buffer_, *parser_,
      [self = shared_from_this()](ErrorCode error, std::size_t) {
        self->OnHeader(error);
      });
}

void ServerConnection::OnHeader(ErrorCode error) {
  if (error) return Reject(error);
  const auto length = parser_->content_length();
  if (length && !HasBodyMemory(static_cast<std::int64_t>(*length))) {
    return RefuseForNow(kNoMemory);
  }
  if (!beast::iequals(parser_->get()[field::expect], "100-continue")) return ReadBody();
  response_ = {beast::http::status::continue_, kHttp11};
  beast::http::async_write(stream_, response_,
                           [self = shared_from_this()](ErrorCode failed, std::size_t) {
                             if (failed) return self->stream_.close();
                             self->ReadBody();
                           });
}

bool ServerConnection::HasBodyMemory(std::int64_t bytes) {
  const auto& share = shared_->options.body_memory;
  const std::int64_t missing = bytes - body_memory_.bytes();
  if (!share || missing <= 0) return true;
  auto memory = share->TryReserve(missing);
  if (!memory) return false;
  body_memory_.Add(*std::move(memory));
  return true;
}

void ServerConnection::ReadPiece() {
  const auto read = static_cast<std::int64_t>(parser_->get().body().size());
  if (!HasBodyMemory(kGrowingCopies * (read + kPieceBytesMax))) {
    return RefuseForNow(kNoMemory);
  }
  // Whatever buffer_ holds is added at once.
  beast::http::async_read_some(stream_, buffer_, *parser_,
                               [self = shared_from_this()](ErrorCode error, std::size_t) {
                                 self->OnPiece(error);
                               });
}

void ServerConnection::OnPiece(ErrorCode error) {
  if (error) return Reject(error);
  if (!parser_->is_done()) return ReadPiece();
  Handle();
}

void ServerConnection::ReadBody() {
  if (parser_->chunked()) return ReadPiece();
  beast::http::async_read(
      stream_, buffer_, *parser_,
      [self = shared_from_this()](ErrorCode error, std::size_t) { self->OnBody(error); });
}

void ServerConnection::OnBody(ErrorCode error) {
  if (error) return Reject(error);
  Handle();
}

void ServerConnection::Handle() {
  keeps_alive_ = parser_->keep_alive();
  is_head_ = parser_->get().method() == beast::http::verb::head;
  owes_answer_ = true;
  const std::uint64_t number = ++handled_;
  stream_.expires_never();
  StartAnswerTimer();
  try {
    ServerRequest request = TakeRequest(parser_->get(), peer_);
    request.memory = std::move(body_memory_);
    shared_->handler(std::move(request), AnswerTo(number));
  } catch (const std::exception& e) {
    OnAnswer(number, Refusal(shared_->options, 500, e.what()));
  }
}

Answer ServerConnection::AnswerTo(std::uint64_t number) {
  return [shared = shared_, weak = weak_from_this(), number](Response response) {
    MutexLock lock(shared->gate);
    if (shared->ended) return;
    auto self = weak.lock();
    if (self == nullptr) return;
    const auto executor = self->stream_.get_executor();
    net::post(executor,
              [self = std::move(self), number, response = std::move(response)]() mutable {
                self->OnAnswer(number, std::move(response));
              });
  };
}

void ServerConnection::StartAnswerTimer() {
  answer_timer_.expires_after(shared_->options.answer_timeout);
  answer_timer_.async_wait(
      [self = shared_from_this(), number = handled_](ErrorCode error) {
        if (error) return;
        self->OnAnswer(number,
                       Refusal(self->shared_->options, 503,
                               "no answer in time; what was sent may have been taken"));
      });
}

void ServerConnection::OnAnswer(std::uint64_t number, Response response) {
  if (number != handled_ || !owes_answer_) return;
  owes_answer_ = false;
  answer_timer_.cancel();
  Write(std::move(response), !keeps_alive_ || shared_->draining);
}

void ServerConnection::Reject(ErrorCode error) {
  using HttpError = beast::http::error;
  if (error == HttpError::end_of_stream) {
    // The client has closed its side between two requests.
    return stream_.close();
  }
  if (error == HttpError::body_limit) {
    return CloseWith(413, fmt::format("the body has more than {} bytes",
                                      shared_->options.body_bytes_max));
  }
  if (error == HttpError::header_limit) {
    return CloseWith(431, fmt::format("the headers have more than {} bytes",
                                      shared_->options.header_bytes_max));
  }
  const bool is_malformed =
      error.category() ==
          beast::http::make_error_code(HttpError::bad_method).category() &&
      error != HttpError::partial_message;
  if (!is_malformed) return stream_.close();
  CloseWith(400, fmt::format("not a request of HTTP/1.1: {}", error.message()));
}

void ServerConnection::CloseWith(int status, const std::string& why) {
  // What was read of the body is not needed while the answer is written.
  parser_ = nullptr;
  body_memory_.Release();
  Write(Refusal(shared_->options, status, why), /*closes=*/true);
}

void ServerConnection::RefuseForNow(const std::string& why) {
  ++shared_->refused_count;
  CloseWith(503, why);
}

void ServerConnection::Write(Response response, bool closes) {
  response_ = {static_cast<beast::http::status>(response.status), kHttp11};
  for (const Header& header : response.headers) {
    response_.insert(header.name, header.value);
  }
  response_.content_length(response.body.size());
  if (!is_head_) response_.body() = std::move(response.body);
  response_.keep_alive(!closes);
  stream_.expires_after(kWriteTimeout);
  beast::http::async_write(
      stream_, response_,
      [self = shared_from_this(), closes](ErrorCode error, std::size_t) {
        self->OnWritten(error, closes);
      });
}

void ServerConnection::OnWritten(ErrorCode error, bool closes) {
  if (error) return stream_.close();
  if (!closes) return AwaitRequest();
  stream_.socket().shutdown(net::ip::tcp::socket::shutdown_send, error);
  stream_.expires_after(kLingerTime);
  Linger();
}

void ServerConnection::Linger() {
  buffer_.clear();
  stream_.async_read_some(
      buffer_.prepare(kFirstReadBytes),
      [self = shared_from_this()](ErrorCode error, std::size_t bytes) {
        self->OnLingering(error, bytes);
      });
}

void ServerConnection::OnLingering(ErrorCode error, std::size_t bytes) {
  lingered_bytes_ += bytes;
  if (error || lingered_bytes_ > kLingerBytesMax) return stream_.close();
  Linger();
}

}  // namespace firn::http
