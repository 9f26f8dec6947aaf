#include "firn/http/http_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/http/stoppable_client.h"
#include "firn/http/testing/test_server.h"

namespace firn::http {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kChangingMethods[] = {"POST", "PUT", "PATCH", "DELETE"};
constexpr const char* kReadingMethods[] = {"GET", "HEAD"};

Reply Greet(const ReceivedRequest&) { return {.body = "hello"}; }

class HttpClientTest : public ::testing::Test {
 protected:
  void Serve(TestServer::Handler handler) {
    server_ = std::make_unique<TestServer>(runtime_, std::move(handler));
  }

  std::unique_ptr<HttpClient> Client(HttpOptions options = {}) {
    options.use_environment_proxy = false;
    return *MakeHttpClient(runtime_, std::move(options));
  }

  std::unique_ptr<HttpClient> Stoppable(RequestStop stop) {
    return *MakeStoppableHttpClient(runtime_, {.use_environment_proxy = false},
                                    std::move(stop));
  }

  Result<Response> Send(const std::string& method, std::string_view body = {}) {
    return client_->Send({.method = method, .url = server_->Url("/x")}, body);
  }

  void ExpectFailures(const std::string& method, ErrorKind kind) {
    const Status status = Send(method).status();
    EXPECT_TRUE(IsError(status, kind)) << method << ": " << status;
    EXPECT_THAT(ErrorText(status), HasSubstr(method + " " + server_->Url("/x") + ": "));
  }

  /// Whatever reads may simply be tried again; whatever changes something may have done
  /// so.
  void ExpectFailuresAfterSending() {
    for (const char* method : kReadingMethods) {
      ExpectFailures(method, ErrorKind::kUnavailable);
    }
    for (const char* method : kChangingMethods) {
      ExpectFailures(method, ErrorKind::kOutcomeUnknown);
    }
  }

  ~HttpClientTest() override { gate_.Open(); }

  Runtime& runtime_ = SystemRuntime();
  /// For handlers to wait at until the test is over.
  Gate gate_{runtime_};
  std::unique_ptr<TestServer> server_;
  std::unique_ptr<HttpClient> client_ = Client();
};

TEST_F(HttpClientTest, AResponseHasStatusHeadersAndBody) {
  Serve([](const ReceivedRequest&) {
    return Reply{.status = 201, .headers = {{"ETag", "\"a\""}}, .body = "hello"};
  });
  const auto response = Send("GET");
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(response->status, 201);
  EXPECT_EQ(FindHeader(response->headers, "etag"), "\"a\"");
  EXPECT_EQ(FindHeader(response->headers, "etags"), std::nullopt);
  EXPECT_EQ(response->body, "hello");
}

TEST_F(HttpClientTest, TheServerGetsMethodTargetHeadersAndBody) {
  Serve(Greet);
  ASSERT_TRUE(client_
                  ->Send({.method = "PATCH",
                          .url = server_->Url("/a/../b%2Fc?d=e&f="),
                          .headers = {{"X-One", "1"}, {"X-Empty", ""}}},
                         std::string_view("b\0dy", 4))
                  .ok());
  const ReceivedRequest request = server_->Requests().at(0);
  EXPECT_EQ(request.method, "PATCH");
  EXPECT_EQ(request.target, "/a/../b%2Fc?d=e&f=");
  EXPECT_EQ(FindHeader(request.headers, "X-One"), "1");
  EXPECT_EQ(FindHeader(request.headers, "X-Empty"), "");
  EXPECT_EQ(FindHeader(request.headers, "User-Agent"), "firn");
  EXPECT_EQ(request.body, std::string("b\0dy", 4));
}

TEST_F(HttpClientTest, NothingIsAddedToWhatTheCallerSends) {
  Serve(Greet);
  for (const char* method : {"PUT", "POST", "DELETE", "GET"}) {
    ASSERT_TRUE(Send(method).ok());
    const auto headers = server_->Requests().back().headers;
    const auto length = FindHeader(headers, "Content-Length");
    EXPECT_EQ(length.has_value(), method[0] == 'P') << method;
    EXPECT_FALSE(FindHeader(headers, "Content-Type").has_value());
  }
  const std::string large(2 << 20, 'x');
  ASSERT_TRUE(Send("PUT", large).ok());
  EXPECT_FALSE(FindHeader(server_->Requests().back().headers, "Expect").has_value());
  EXPECT_EQ(server_->Requests().back().body, large);
}

TEST_F(HttpClientTest, AnyStatusIsAResponse) {
  int status = 0;
  Serve([&status](const ReceivedRequest&) { return Reply{.status = status}; });
  for (const int each : {204, 301, 400, 404, 409, 429, 500, 503}) {
    status = each;
    const auto response = Send("POST");
    ASSERT_TRUE(response.ok()) << response.status();
    EXPECT_EQ(response->status, each);
  }
}

TEST_F(HttpClientTest, RedirectsAreNotFollowed) {
  Serve([this](const ReceivedRequest&) {
    return Reply{.status = 307, .headers = {{"Location", server_->Url("/elsewhere")}}};
  });
  EXPECT_EQ(Send("GET")->status, 307);
  EXPECT_EQ(server_->Requests().size(), 1);
}

TEST_F(HttpClientTest, RequestsShareAConnection) {
  Serve(Greet);
  for (const char* method : {"GET", "HEAD", "POST", "DELETE", "GET"}) {
    ASSERT_TRUE(Send(method).ok());
  }
  EXPECT_EQ(server_->connections(), 1);
}

TEST_F(HttpClientTest, ThreadsHaveConnectionsOfTheirOwn) {
  Gate both_came(runtime_);
  std::atomic<int> came = 0;
  Serve([&](const ReceivedRequest& request) {
    if (++came == 2) both_came.Open();
    both_came.Wait();
    return Reply{.body = request.target};
  });
  const auto ask = [this](const char* target) {
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(client_->Send({.url = server_->Url(target)})->body, target);
    }
  };
  {
    Thread one(runtime_, "one", [&] { ask("/one"); });
    Thread two(runtime_, "two", [&] { ask("/two"); });
  }
  EXPECT_EQ(server_->connections(), 2);
}

TEST_F(HttpClientTest, ARefusedConnectionIsUnavailable) {
  Serve(Greet);
  const std::string url = server_->Url("/x");
  server_ = nullptr;
  for (const char* method : {"GET", "POST"}) {
    const Status status = client_->Send({.method = method, .url = url}).status();
    EXPECT_TRUE(IsError(status, ErrorKind::kUnavailable)) << status;
  }
}

TEST_F(HttpClientTest, AFailedHandshakeIsUnavailable) {
  Serve(Greet);
  server_->ResetConnections(2);
  const std::string url = "https" + server_->Url("/x").substr(4);
  for (const char* method : {"GET", "POST"}) {
    const Status status = client_->Send({.method = method, .url = url}).status();
    EXPECT_TRUE(IsError(status, ErrorKind::kUnavailable)) << status;
  }
  EXPECT_TRUE(server_->Requests().empty());
}

TEST_F(HttpClientTest, AConnectionThatIsDroppedMayHaveDoneItsWork) {
  Serve([](const ReceivedRequest&) { return Drop(); });
  ExpectFailuresAfterSending();
}

TEST_F(HttpClientTest, AConnectionThatIsResetMayHaveDoneItsWork) {
  Serve(Greet);
  server_->ResetConnections(100);
  ExpectFailuresAfterSending();
  EXPECT_TRUE(server_->Requests().empty());
}

TEST_F(HttpClientTest, AResponseCutShortMayHaveDoneItsWork) {
  Serve([](const ReceivedRequest& request) {
    if (request.method == "HEAD") return Drop();
    return Reply{.body = "hello", .end = Reply::End::kTruncate};
  });
  ExpectFailuresAfterSending();
}

TEST_F(HttpClientTest, ARequestThatTakesTooLongMayHaveDoneItsWork) {
  Serve([this](const ReceivedRequest&) {
    gate_.Wait();
    return Reply{};
  });
  client_ = Client({.timeout = std::chrono::milliseconds(30)});
  ExpectFailuresAfterSending();
}

TEST_F(HttpClientTest, ARequestMayHaveATimeoutOfItsOwn) {
  Serve([this](const ReceivedRequest&) {
    gate_.Wait();
    return Reply{};
  });
  const Status status =
      client_->Send({.url = server_->Url(), .timeout = std::chrono::milliseconds(30)})
          .status();
  EXPECT_TRUE(IsError(status, ErrorKind::kUnavailable)) << status;
}

TEST_F(HttpClientTest, WhatChangesSomethingIsNeverSentTwice) {
  // A kept connection that breaks: libcurl would send the request again by itself.
  for (const char* method : kChangingMethods) {
    for (const std::string_view body : {"", "body"}) {
      Serve([](const ReceivedRequest& request) {
        return request.method == "GET" ? Reply{} : Drop();
      });
      ASSERT_TRUE(Send("GET").ok());
      const Status status = Send(method, body).status();
      EXPECT_TRUE(IsError(status, ErrorKind::kOutcomeUnknown)) << status;
      EXPECT_EQ(server_->Requests().size(), 2);
    }
  }
}

TEST_F(HttpClientTest, AStopEndsTheWaitForASilentServer) {
  StopSource stop;
  Serve([&](const ReceivedRequest&) {
    stop.RequestStop();
    gate_.Wait();
    return Reply{};
  });
  client_ = Stoppable({.token = stop.token(), .grace = std::chrono::milliseconds(1)});
  ExpectFailures("GET", ErrorKind::kUnavailable);
  ExpectFailures("POST", ErrorKind::kOutcomeUnknown);
  EXPECT_THAT(ErrorText(Send("POST").status()),
              HasSubstr("given up to stop; the server may have carried it out"));
}

TEST_F(HttpClientTest, WhatAServerIsAboutToAnswerIsHeardAfterAStop) {
  StopSource stop;
  stop.RequestStop();
  Serve(Greet);
  client_ = Stoppable({.token = stop.token(), .grace = std::chrono::minutes(1)});
  EXPECT_EQ(Send("POST")->body, "hello");
}

TEST_F(HttpClientTest, ReadingSurvivesAConnectionThatTheServerClosed) {
  Serve([](const ReceivedRequest&) {
    return Reply{.body = "hello", .end = Reply::End::kCloseAfter};
  });
  for (int i = 0; i < 5; ++i) EXPECT_EQ(Send("GET")->body, "hello");
}

TEST_F(HttpClientTest, AResponseIsNoLargerThanAllowed) {
  Serve(Greet);
  client_ = Client({.response_bytes_max = 4});
  const Status read = Send("GET").status();
  EXPECT_FALSE(IsError(read, ErrorKind::kUnavailable)) << read;
  EXPECT_THAT(ErrorText(read), HasSubstr("larger than 4 bytes"));
  EXPECT_TRUE(IsError(Send("POST").status(), ErrorKind::kOutcomeUnknown));
  const Request request{.url = server_->Url(), .response_bytes_max = 5};
  EXPECT_EQ(client_->Send(request)->body, "hello");
}

TEST_F(HttpClientTest, MessagesHoldNoSecrets) {
  Serve([](const ReceivedRequest&) { return Drop(); });
  std::string url = server_->Url("/x?token=secret#secret");
  url.insert(7, "user:secret@");
  const Status status =
      client_->Send({.url = url, .headers = {{"Authorization", "secret"}}}).status();
  EXPECT_THAT(ErrorText(status), AllOf(HasSubstr("GET " + server_->Url("/x") + ": "),
                                       Not(HasSubstr("secret"))));
}

TEST_F(HttpClientTest, WhatCannotBeSentIsRefused) {
  Serve(Greet);
  const std::string url = server_->Url();
  for (const Request& request : {
           Request{.url = url, .headers = {{"A", "secret\r\nB: c"}}},
           Request{.url = url, .headers = {{"A\nB", "secret"}}},
           Request{.url = url, .headers = {{"", "secret"}}},
           Request{.url = "file:///etc/hostname"},
           Request{.url = "http://"},
           Request{.url = ""},
       }) {
    const Status status = client_->Send(request).status();
    EXPECT_TRUE(status.IsInvalid()) << status;
    EXPECT_THAT(ErrorText(status), Not(HasSubstr("secret")));
  }
  EXPECT_TRUE(server_->Requests().empty());
}

TEST(UrlForMessageTest, LeavesOutWhatMayBeSecret) {
  EXPECT_EQ(UrlForMessage("http://h:1/a/b?c=d"), "http://h:1/a/b");
  EXPECT_EQ(UrlForMessage("http://u:p@h/a@b"), "http://h/a@b");
  EXPECT_EQ(UrlForMessage("http://u:p@q@h"), "http://h");
  EXPECT_EQ(UrlForMessage("http://h?x@y"), "http://h");
  EXPECT_EQ(UrlForMessage("h#x"), "h");
  EXPECT_EQ(UrlForMessage(""), "");
}

}  // namespace
}  // namespace firn::http
