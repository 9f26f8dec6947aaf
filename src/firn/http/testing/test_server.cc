#include "firn/http/testing/test_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <optional>
#include <utility>

#include "firn/core/whole_number.h"

namespace firn::http {
namespace {

constexpr std::string_view kHeadEnd = "\r\n\r\n";

/// False once the peer has closed the connection.
bool ReceiveMore(int socket, std::string& buffered) {
  std::array<char, 64 << 10> chunk;
  const ssize_t received = recv(socket, chunk.data(), chunk.size(), 0);
  if (received <= 0) return false;
  buffered.append(chunk.data(), static_cast<std::size_t>(received));
  return true;
}

void SendAll(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

/// Up to `delimiter`, which is taken off too.
std::string TakeUntil(std::string_view& text, std::string_view delimiter) {
  const std::size_t end = std::min(text.find(delimiter), text.size());
  std::string taken(text.substr(0, end));
  text.remove_prefix(std::min(end + delimiter.size(), text.size()));
  return taken;
}

ReceivedRequest ParseHead(std::string_view head) {
  ReceivedRequest request;
  request.method = TakeUntil(head, " ");
  request.target = TakeUntil(head, " ");
  TakeUntil(head, "\r\n");
  while (!head.empty()) {
    const std::string line = TakeUntil(head, "\r\n");
    std::string_view rest = line;
    std::string name = TakeUntil(rest, ":");
    while (rest.starts_with(' ')) rest.remove_prefix(1);
    request.headers.push_back({.name = std::move(name), .value = std::string(rest)});
  }
  return request;
}

/// Nothing once the peer has closed the connection.
std::optional<ReceivedRequest> ReceiveRequest(int socket, std::string& buffered) {
  std::size_t head_end;
  while ((head_end = buffered.find(kHeadEnd)) == std::string::npos) {
    if (!ReceiveMore(socket, buffered)) return std::nullopt;
  }
  ReceivedRequest request = ParseHead(std::string_view(buffered).substr(0, head_end));
  const std::string_view length =
      FindHeader(request.headers, "Content-Length").value_or("0");
  const std::size_t body_bytes = ParseWholeNumber<std::size_t>(length).value_or(0);
  buffered.erase(0, head_end + kHeadEnd.size());
  while (buffered.size() < body_bytes) {
    if (!ReceiveMore(socket, buffered)) return std::nullopt;
  }
  request.body = buffered.substr(0, body_bytes);
  buffered.erase(0, body_bytes);
  return request;
}

std::string ReplyText(const Reply& reply, bool with_body) {
  std::string text = fmt::format("HTTP/1.1 {} Told\r\n", reply.status);
  for (const auto& [name, value] : reply.headers) {
    text += fmt::format("{}: {}\r\n", name, value);
  }
  if (reply.status != 204) {
    text += fmt::format("Content-Length: {}\r\n", reply.body.size());
  }
  text += "\r\n";
  const std::size_t sent_bytes =
      reply.end == Reply::End::kTruncate ? reply.body.size() / 2 : reply.body.size();
  if (with_body) text += reply.body.substr(0, sent_bytes);
  return text;
}

/// The peer sees a reset; the socket stays open, but connected to nothing.
void ResetConnection(int socket) {
  const sockaddr nobody{.sa_family = AF_UNSPEC};
  (void)connect(socket, &nobody, sizeof(nobody));
}

}  // namespace

void Gate::Open() {
  MutexLock lock(mutex_);
  open_ = true;
  opened_.NotifyAll();
}

void Gate::Wait() {
  MutexLock lock(mutex_);
  while (!open_) opened_.Wait(mutex_);
}

TestServer::TestServer(Runtime& runtime, Handler handler)
    : runtime_(runtime), handler_(std::move(handler)), mutex_(runtime) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{.sin_family = AF_INET};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  socklen_t bytes = sizeof(address);
  FIRN_CHECK(bind(listener_, generic, bytes) == 0, "no port for the test server");
  FIRN_CHECK(listen(listener_, SOMAXCONN) == 0);
  FIRN_CHECK(getsockname(listener_, generic, &bytes) == 0);
  port_ = ntohs(address.sin_port);
  acceptor_ = Thread(runtime, "test-accept", [this] { AcceptUntilClosed(); });
}

TestServer::~TestServer() {
  // Wakes the threads that wait for a connection or for bytes; close alone would not.
  shutdown(listener_, SHUT_RDWR);
  acceptor_.Join();
  close(listener_);
  std::map<int, Thread> serving;
  {
    MutexLock lock(mutex_);
    for (const auto& [socket, thread] : serving_) shutdown(socket, SHUT_RDWR);
    serving.swap(serving_);
  }
  for (auto& [socket, thread] : serving) {
    thread.Join();
    close(socket);
  }
}

std::string TestServer::Url(std::string_view target) const {
  return fmt::format("http://127.0.0.1:{}{}", port_, target);
}

std::vector<ReceivedRequest> TestServer::Requests() {
  MutexLock lock(mutex_);
  return requests_;
}

void TestServer::AcceptUntilClosed() {
  int socket;
  while ((socket = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC)) >= 0) {
    const int no_delay = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &no_delay, sizeof(no_delay));
    ++connections_;
    MutexLock lock(mutex_);
    // Kept open until the server ends, so that its number is not given to another.
    serving_[socket] = Thread(runtime_, "test-serve", [this, socket] { Serve(socket); });
  }
}

void TestServer::Serve(int socket) {
  std::string buffered;
  if (to_reset_ > 0) {
    --to_reset_;
    char first;
    (void)recv(socket, &first, 1, MSG_PEEK);
    ResetConnection(socket);
    return;
  }
  while (AnswerOne(socket, buffered)) {
  }
  shutdown(socket, SHUT_RDWR);
}

bool TestServer::AnswerOne(int socket, std::string& buffered) {
  const std::optional<ReceivedRequest> request = ReceiveRequest(socket, buffered);
  if (!request.has_value()) return false;
  {
    MutexLock lock(mutex_);
    requests_.push_back(*request);
  }
  const Reply reply = handler_(*request);
  if (reply.end == Reply::End::kDrop) return false;
  SendAll(socket, ReplyText(reply, request->method != "HEAD"));
  return reply.end == Reply::End::kNone;
}

}  // namespace firn::http
