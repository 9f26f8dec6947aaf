// Posts to `firn serve` at a steady rate, and prints how long acknowledgements take.
//
//   serve_load PORT TABLE REQUESTS_PER_SECOND RECORDS_PER_REQUEST SECONDS
//
// `bench/serve_load.py` starts the server, and watches its CPU and memory.
//
// Requests leave when they are due, whether earlier ones were answered or not: another
// connection is opened if all wait. A latency counts from when its request was due, so a
// server that stops for a while is not seen as one that was asked less.

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "firn/core/runtime.h"
#include "firn/core/status.h"

namespace firn {
namespace {

constexpr std::int64_t kMicrosPerSecond = 1'000'000;
constexpr std::size_t kConnectionsMax = 8'000;
/// Then what is still unanswered counts as such.
constexpr std::int64_t kLastAnswersMicros = 30 * kMicrosPerSecond;
constexpr std::int64_t kReportMicros = 10 * kMicrosPerSecond;

struct LoadOptions {
  std::uint16_t port = 0;
  std::string table;
  std::int64_t requests_per_second = 0;
  int records_per_request = 0;
  std::int64_t seconds = 0;
};

std::int64_t NowMicros() {
  return SystemRuntime().SinceBoot().time_since_epoch().count();
}

double OwnCpuSeconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

/// A request whose records differ from one to the next in their ids alone.
class RequestText {
 public:
  explicit RequestText(const LoadOptions& options) {
    std::string body;
    for (int i = 0; i < options.records_per_request; ++i) {
      body += R"({"id":)";
      id_offsets_.push_back(body.size());
      body += fmt::format(
          R"({:0{}},"service":"service-{}","status":{},"path":"/v1/items/{}"}})", 1,
          kDigits, i * 7 % 40, i % 5 == 0 ? 404 : 200, i * 7919 % 1000);
      body += '\n';
    }
    text_ = fmt::format(
        "POST /v1/tables/{} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {}\r\n\r\n",
        options.table, body.size());
    for (std::size_t& offset : id_offsets_) offset += text_.size();
    text_ += body;
  }

  std::string_view Next() {
    for (const std::size_t offset : id_offsets_) {
      WriteId(text_.data() + offset, kFirstId + next_id_++);
    }
    return text_;
  }

 private:
  static constexpr int kDigits = 13;
  static constexpr std::int64_t kFirstId = 1'000'000'000'000;

  static void WriteId(char* digits, std::int64_t id) {
    for (int i = kDigits - 1; i >= 0; --i, id /= 10) {
      digits[i] = static_cast<char>('0' + id % 10);
    }
  }

  std::string text_;
  std::vector<std::size_t> id_offsets_;
  std::int64_t next_id_ = 0;
};

/// Of answers since the last report.
struct Figures {
  std::vector<std::int64_t> latencies;
  std::int64_t failed = 0;

  double Milliseconds(double share) {
    if (latencies.empty()) return 0;
    const auto last = static_cast<double>(latencies.size() - 1);
    const auto place = latencies.begin() + static_cast<std::ptrdiff_t>(share * last);
    std::ranges::nth_element(latencies, place);
    return static_cast<double>(*place) / 1e3;
  }

  std::string Text() {
    return fmt::format(
        "answered {}, failed {}, p50 {:.1f} ms, p99 {:.1f} ms, longest {:.1f} ms",
        latencies.size(), failed, Milliseconds(0.5), Milliseconds(0.99), Milliseconds(1));
  }
};

class Connection {
 public:
  explicit Connection(std::uint16_t port)
      : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    FIRN_CHECK(
        socket_ >= 0 && connect(socket_, reinterpret_cast<const sockaddr*>(&address),
                                sizeof address) == 0,
        "cannot connect to port {}", port);
    const int on = 1;
    setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  ~Connection() { close(socket_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  int socket() const { return socket_; }

  void Send(std::string_view request, std::int64_t due) {
    due_ = due;
    answer_.clear();
    // A request is smaller than the socket's buffer.
    const ssize_t sent = send(socket_, request.data(), request.size(), MSG_NOSIGNAL);
    FIRN_CHECK(sent == static_cast<ssize_t>(request.size()), "the server has gone");
  }

  /// What its socket has. True once the answer is whole.
  bool Receive() {
    std::array<char, 4096> bytes;
    const ssize_t count = recv(socket_, bytes.data(), bytes.size(), 0);
    FIRN_CHECK(count > 0, "the server has gone");
    answer_.append(bytes.data(), static_cast<std::size_t>(count));
    const std::size_t header_end = answer_.find("\r\n\r\n");
    if (header_end == std::string::npos) return false;
    constexpr std::string_view kLength = "Content-Length: ";
    const std::size_t length = answer_.find(kLength);
    FIRN_CHECK(length < header_end, "an answer without a length");
    const auto body =
        std::strtoull(answer_.c_str() + length + kLength.size(), nullptr, 10);
    return answer_.size() >= header_end + 4 + body;
  }

  bool is_ok() const { return answer_.starts_with("HTTP/1.1 200"); }
  std::int64_t due() const { return due_; }

 private:
  const int socket_;
  std::int64_t due_ = 0;
  std::string answer_;
};

class LoadRun {
 public:
  explicit LoadRun(const LoadOptions& options) : options_(options), request_(options) {}
  ~LoadRun() { close(epoll_); }
  LoadRun(const LoadRun&) = delete;
  LoadRun& operator=(const LoadRun&) = delete;

  void Run() {
    begin_ = NowMicros();
    reported_ = begin_;
    const std::int64_t requests = options_.requests_per_second * options_.seconds;
    while (sent_ < requests) {
      while (sent_ < requests && NowMicros() >= DueOf(sent_)) SendNext();
      Receive();
      if (NowMicros() - reported_ >= kReportMicros) Report();
    }
    const std::int64_t sent_by = NowMicros();
    while (waiting_ > 0 && NowMicros() - sent_by < kLastAnswersMicros) Receive();
    ReportAll();
  }

 private:
  std::int64_t DueOf(std::int64_t request) const {
    return begin_ + request * kMicrosPerSecond / options_.requests_per_second;
  }

  void SendNext() {
    if (idle_.empty()) Connect();
    Connection* const connection = idle_.front();
    idle_.pop_front();
    connection->Send(request_.Next(), DueOf(sent_));
    ++sent_;
    ++waiting_;
  }

  void Connect() {
    FIRN_CHECK(connections_.size() < kConnectionsMax,
               "the server does not keep up: {} requests wait", waiting_);
    connections_.push_back(std::make_unique<Connection>(options_.port));
    Connection* const connection = connections_.back().get();
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = connection;
    FIRN_CHECK(epoll_ctl(epoll_, EPOLL_CTL_ADD, connection->socket(), &event) == 0);
    idle_.push_back(connection);
  }

  void Receive() {
    constexpr int kWaitMs = 1;
    std::array<epoll_event, 256> events;
    const int count =
        epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), kWaitMs);
    FIRN_CHECK(count >= 0 || errno == EINTR);
    for (int i = 0; i < count; ++i) {
      auto* const connection =
          static_cast<Connection*>(events[static_cast<std::size_t>(i)].data.ptr);
      if (connection->Receive()) OnAnswer(*connection);
    }
  }

  void OnAnswer(Connection& connection) {
    const std::int64_t latency = NowMicros() - connection.due();
    for (Figures* figures : {&recent_, &all_}) {
      if (connection.is_ok()) {
        figures->latencies.push_back(latency);
      } else {
        ++figures->failed;
      }
    }
    --waiting_;
    idle_.push_back(&connection);
  }

  void Report() {
    const std::int64_t now = NowMicros();
    fmt::print("{:6.0f} s: {}, {} wait\n", static_cast<double>(now - begin_) / 1e6,
               recent_.Text(), waiting_);
    std::fflush(stdout);
    reported_ = now;
    recent_ = {};
  }

  void ReportAll() {
    const double seconds = static_cast<double>(NowMicros() - begin_) / 1e6;
    const auto records = static_cast<double>(all_.latencies.size()) *
                         static_cast<double>(options_.records_per_request);
    fmt::print("all: {}, unanswered {}\n", all_.Text(), waiting_);
    fmt::print(
        "{:.0f} requests/s, {:.0f} records/s, {} connections, {:.2f} CPU of the "
        "generator\n",
        static_cast<double>(all_.latencies.size()) / seconds, records / seconds,
        connections_.size(), OwnCpuSeconds() / seconds);
  }

  const LoadOptions options_;
  RequestText request_;
  const int epoll_ = epoll_create1(EPOLL_CLOEXEC);
  std::vector<std::unique_ptr<Connection>> connections_;
  /// In turn, so that none is idle for so long that the server closes it.
  std::deque<Connection*> idle_;
  Figures recent_;
  Figures all_;
  std::int64_t begin_ = 0;
  std::int64_t reported_ = 0;
  std::int64_t sent_ = 0;
  std::int64_t waiting_ = 0;
};

}  // namespace
}  // namespace firn

int main(int argc, char** argv) {
  if (argc != 6) {
    fmt::print(stderr, "usage: {} PORT TABLE REQUESTS_PER_SECOND RECORDS SECONDS\n",
               argv[0]);
    return 2;
  }
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  firn::LoadRun({.port = static_cast<std::uint16_t>(std::atoi(argv[1])),
                 .table = argv[2],
                 .requests_per_second = std::atoll(argv[3]),
                 .records_per_request = std::atoi(argv[4]),
                 .seconds = std::atoll(argv[5])})
      .Run();
  return 0;
}
