#include "firn/http/http_server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <optional>

#include "firn/core/bounded_queue.h"

namespace firn::http {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

/// A client that sends any bytes.
class RawClient {
 public:
  explicit RawClient(std::uint16_t port) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int connected =
        connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address));
    FIRN_CHECK(connected == 0);
  }
  ~RawClient() { close(socket_); }

  void Send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  /// Until `text` holds `end`, or the server closes.
  std::string ReadTo(std::string_view end) {
    std::string text;
    char byte = 0;
    while (text.find(end) == std::string::npos && recv(socket_, &byte, 1, 0) == 1) {
      text.push_back(byte);
    }
    return text;
  }

  std::string ReadToClose() { return ReadTo(std::string_view("\0never", 6)); }

  std::string Exchange(std::string_view bytes, std::string_view end) {
    Send(bytes);
    return ReadTo(end);
  }

 private:
  const int socket_;
};

std::string Post(std::string_view body, std::string_view headers = "") {
  return fmt::format("POST /t HTTP/1.1\r\nHost: h\r\n{}Content-Length: {}\r\n\r\n{}",
                     headers, body.size(), body);
}

class HttpServerTest : public ::testing::Test {
 protected:
  void Serve(Handler handler, const ServerOptions& options = {}) {
    server_ = HttpServer::Start(runtime_, options, std::move(handler)).ValueOrDie();
  }

  /// Answers with "<method> <target> <body>.".
  void ServeEcho(const ServerOptions& options = {}) {
    Serve(
        [](const ServerRequest& request, const Answer& answer) {
          answer({.status = 200,
                  .headers = {{"X-One", "1"}},
                  .body = fmt::format("{} {} {}.", request.method, request.target,
                                      request.body)});
        },
        options);
  }

  RawClient Connect() { return RawClient(server_->port()); }

  Runtime& runtime_ = SystemRuntime();
  /// Answers that a test gives itself.
  BoundedQueue<Answer> pending_{runtime_, 16};
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpServerTest, AnswersSeveralRequestsOfOneConnection) {
  ServeEcho();
  RawClient client = Connect();
  const std::string first = client.Exchange(Post("abc"), "abc.");
  EXPECT_THAT(first, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(first, HasSubstr("X-One: 1\r\n"));
  EXPECT_THAT(first, HasSubstr("Content-Length: 12\r\n"));
  EXPECT_THAT(first, EndsWith("\r\n\r\nPOST /t abc."));
  EXPECT_THAT(client.Exchange("GET /a%20b?c=d HTTP/1.1\r\n\r\n", "d ."),
              EndsWith("GET /a%20b?c=d ."));
}

TEST_F(HttpServerTest, AnswersRequestsThatWereSentTogetherInOrder) {
  ServeEcho();
  RawClient client = Connect();
  const std::string text = client.Exchange(Post("1") + Post("2") + Post("3"), "t 3.");
  EXPECT_LT(text.find("t 1."), text.find("t 2."));
  EXPECT_LT(text.find("t 2."), text.find("t 3."));
}

TEST_F(HttpServerTest, JoinsTheChunksOfABody) {
  ServeEcho();
  const std::string text = Connect().Exchange(
      "POST /t HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n"
      "\r\n",
      "de.");
  EXPECT_THAT(text, EndsWith("POST /t abcde."));
}

TEST_F(HttpServerTest, SaysGoOnToAClientThatAsks) {
  ServeEcho();
  RawClient client = Connect();
  EXPECT_THAT(
      client.Exchange("POST /t HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 3\r\n"
                      "\r\n",
                      "\r\n\r\n"),
      StartsWith("HTTP/1.1 100 Continue"));
  EXPECT_THAT(client.Exchange("abc", "abc."), EndsWith("POST /t abc."));
}

TEST_F(HttpServerTest, SendsTheHeadOfAnAnswerAlone) {
  ServeEcho();
  RawClient client = Connect();
  client.Send("HEAD /t HTTP/1.1\r\n\r\n" + Post("x"));
  const std::string text = client.ReadTo("x.");
  EXPECT_THAT(text, HasSubstr("Content-Length: 9\r\n"));
  EXPECT_THAT(text, Not(HasSubstr("HEAD /t")));
}

TEST_F(HttpServerTest, ClosesWhereTheClientAsksForIt) {
  ServeEcho();
  RawClient client = Connect();
  client.Send(Post("a", "Connection: close\r\n"));
  EXPECT_THAT(client.ReadToClose(), EndsWith("POST /t a."));
}

TEST_F(HttpServerTest, RefusesWhatIsTooLarge) {
  ServeEcho({.header_bytes_max = 1000, .body_bytes_max = 100});
  RawClient body = Connect();
  body.Send(Post(std::string(101, 'x')));
  EXPECT_THAT(body.ReadToClose(), StartsWith("HTTP/1.1 413 "));
  RawClient chunked = Connect();
  chunked.Send("POST /t HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n65\r\n" +
               std::string(101, 'x') + "\r\n0\r\n\r\n");
  EXPECT_THAT(chunked.ReadToClose(), StartsWith("HTTP/1.1 413 "));
  RawClient headers = Connect();
  headers.Send(Post("", "X: " + std::string(1000, 'x') + "\r\n"));
  EXPECT_THAT(headers.ReadToClose(), StartsWith("HTTP/1.1 431 "));
  EXPECT_THAT(Connect().Exchange(Post(std::string(100, 'x')), "x."),
              StartsWith("HTTP/1.1 200 "));
}

TEST_F(HttpServerTest, TakesTheMemoryOfABodyBeforeItIsRead) {
  MemoryBudget memory(runtime_, 2000);
  std::optional<ServerRequest> held;
  Serve(
      [&](ServerRequest request, Answer answer) {
        held = std::move(request);
        pending_.Push(std::move(answer));
      },
      {.body_memory = MemoryShare{.budget = &memory, .limit_bytes = 1000}});
  RawClient first = Connect();
  first.Send(Post(std::string(600, 'x')));
  const Answer answer = *pending_.Pop();
  EXPECT_EQ(memory.used_bytes(), 600);

  RawClient second = Connect();
  second.Send("POST /t HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 600\r\n\r\n");
  const std::string refused = second.ReadToClose();
  EXPECT_THAT(refused, StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(refused, HasSubstr("Retry-After: 1\r\n"));
  RawClient chunked = Connect();
  chunked.Send("POST /t HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
  EXPECT_THAT(chunked.ReadToClose(), StartsWith("HTTP/1.1 503 "));
  EXPECT_EQ(server_->refused_count(), 2);

  held.reset();
  answer({.status = 200, .body = "done!"});
  EXPECT_THAT(first.ReadTo("done!"), StartsWith("HTTP/1.1 200 "));
  EXPECT_EQ(memory.used_bytes(), 0);
}

TEST_F(HttpServerTest, AChunkedBodyTakesMemoryAsItGrows) {
  constexpr std::int64_t kBytes = 1 << 20;
  MemoryBudget memory(runtime_, 100 * kBytes);
  std::int64_t taken = 0;
  Serve(
      [&](const ServerRequest& request, const Answer& answer) {
        taken = memory.used_bytes();
        answer({.status = 200, .body = fmt::format("{}.", request.body.size())});
      },
      {.body_memory =
           MemoryShare{.budget = &memory, .limit_bytes = memory.limit_bytes()}});
  RawClient client = Connect();
  client.Send(fmt::format(
      "POST /t HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{}\r\n0\r\n\r\n",
      kBytes, std::string(kBytes, 'x')));
  EXPECT_THAT(client.ReadTo("\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
  EXPECT_GE(taken, kBytes);
  EXPECT_LE(taken, 4 * kBytes);
}

TEST_F(HttpServerTest, ABodyThatIsCutOffGivesItsMemoryBack) {
  MemoryBudget memory(runtime_, 2000);
  ServeEcho({.body_memory = MemoryShare{.budget = &memory, .limit_bytes = 1000},
             .request_timeout = std::chrono::milliseconds(50)});
  RawClient client = Connect();
  client.Send("POST /t HTTP/1.1\r\nContent-Length: 600\r\n\r\nx");
  EXPECT_THAT(client.ReadToClose(), IsEmpty());
  EXPECT_THAT(Connect().Exchange(Post(std::string(900, 'y')), "y."),
              StartsWith("HTTP/1.1 200 "));
}

TEST_F(HttpServerTest, RefusesWhatIsNoHttp) {
  ServeEcho();
  for (const char* bytes : {"hello\r\n\r\n", "GET /t HTTP/9.9\r\n\r\n",
                            "POST /t HTTP/1.1\r\nContent-Length: abc\r\n\r\n"}) {
    RawClient client = Connect();
    client.Send(bytes);
    EXPECT_THAT(client.ReadToClose(), StartsWith("HTTP/1.1 400 ")) << bytes;
  }
}

TEST_F(HttpServerTest, RefusesMoreConnectionsThanItMayHave) {
  ServeEcho({.connections_max = 1});
  RawClient first = Connect();
  ASSERT_THAT(first.Exchange(Post("a"), "a."), StartsWith("HTTP/1.1 200 "));
  const std::string text = Connect().ReadToClose();
  EXPECT_THAT(text, StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(text, HasSubstr("Retry-After: 1\r\n"));
}

TEST_F(HttpServerTest, CutsOffSlowClients) {
  ServeEcho({.idle_timeout = std::chrono::milliseconds(50),
             .request_timeout = std::chrono::milliseconds(50)});
  for (const char* bytes :
       {"", "POST", "POST /t HTTP/1.1\r\nContent-Length: 3\r\n\r\nab"}) {
    RawClient client = Connect();
    client.Send(bytes);
    EXPECT_THAT(client.ReadToClose(), IsEmpty()) << bytes;
  }
}

TEST_F(HttpServerTest, AnswersForAHandlerThatTakesTooLong) {
  Serve([this](const ServerRequest&, Answer answer) { pending_.Push(std::move(answer)); },
        {.answer_timeout = std::chrono::milliseconds(20)});
  RawClient client = Connect();
  EXPECT_THAT(client.Exchange(Post("a"), "\r\n\r\n"), StartsWith("HTTP/1.1 503 "));
  client.Send(Post("b"));
  (*pending_.Pop())({.status = 200, .body = "late"});
  EXPECT_THAT(client.ReadTo("\r\n\r\n"), Not(HasSubstr("200 OK")));
}

TEST_F(HttpServerTest, AnAnswerOfAnyThreadReachesItsRequestOnce) {
  Serve(
      [this](const ServerRequest&, Answer answer) { pending_.Push(std::move(answer)); });
  RawClient one = Connect();
  RawClient two = Connect();
  one.Send(Post("a"));
  const Answer first = *pending_.Pop();
  two.Send(Post("b"));
  const Answer second = *pending_.Pop();
  second({.status = 200, .body = "second!"});
  second({.status = 200, .body = "again!"});
  EXPECT_THAT(two.ReadTo("!"), EndsWith("second!"));
  first({.status = 200, .body = "first!"});
  EXPECT_THAT(one.ReadTo("!"), EndsWith("first!"));
}

TEST_F(HttpServerTest, AnswersAfterTheEndAreLost) {
  Serve(
      [this](const ServerRequest&, Answer answer) { pending_.Push(std::move(answer)); });
  RawClient client = Connect();
  client.Send(Post("a"));
  const Answer answer = *pending_.Pop();
  server_.reset();
  answer({.status = 200, .body = "late"});
  EXPECT_THAT(client.ReadToClose(), IsEmpty());
}

TEST_F(HttpServerTest, ADrainedServerAnswersWhatItHasAndTakesNoMore) {
  Serve(
      [this](const ServerRequest&, Answer answer) { pending_.Push(std::move(answer)); });
  RawClient idle = Connect();
  RawClient busy = Connect();
  busy.Send(Post("a"));
  const Answer answer = *pending_.Pop();
  server_->Drain();
  EXPECT_THAT(idle.ReadToClose(), IsEmpty());
  answer({.status = 200, .body = "done"});
  const std::string text = busy.ReadToClose();
  EXPECT_THAT(text, EndsWith("done"));
  EXPECT_THAT(text, HasSubstr("Connection: close\r\n"));
}

TEST_F(HttpServerTest, AHandlerThatThrowsIsAnsweredFor) {
  Serve([](const ServerRequest&, const Answer&) { throw std::runtime_error("oops"); });
  EXPECT_THAT(Connect().Exchange(Post("a"), "oops"), StartsWith("HTTP/1.1 500 "));
}

TEST_F(HttpServerTest, AnAddressThatIsTakenIsNamed) {
  ServeEcho();
  const auto second = HttpServer::Start(runtime_, {.port = server_->port()},
                                        [](const auto&, const auto&) {});
  EXPECT_THAT(ErrorText(second.status()),
              HasSubstr(fmt::format("cannot listen on 127.0.0.1:{}", server_->port())));
}

}  // namespace
}  // namespace firn::http
