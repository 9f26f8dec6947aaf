#include "firn/http/http_server.h"

#include <utility>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>

#include "firn/http/server_connection.h"

namespace firn::http {
namespace {

namespace net = boost::asio;
using ErrorCode = boost::system::error_code;

/// If no connection can be taken, for lack of descriptors mostly, it is tried again then.
constexpr auto kAcceptRetryWait = std::chrono::milliseconds(100);

class BeastServer : public HttpServer {
 public:
  BeastServer(Runtime& runtime, ServerOptions options, Handler handler)
      : shared_(std::make_shared<ServerShared>(runtime, std::move(options),
                                               std::move(handler))),
        acceptor_(net::make_strand(context_)),
        retry_timer_(acceptor_.get_executor()) {}

  ~BeastServer() override {
    {
      MutexLock lock(shared_->gate);
      shared_->ended = true;
    }
    context_.stop();
    threads_.clear();
  }

  Status Listen() {
    const ServerOptions& options = shared_->options;
    ErrorCode error;
    const auto address = net::ip::make_address(options.address, error);
    const net::ip::tcp::endpoint endpoint(address, options.port);
    if (!error) acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(net::socket_base::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(net::socket_base::max_listen_connections, error);
    if (!error) port_ = acceptor_.local_endpoint(error).port();
    if (!error) return Status::OK();
    return InvalidError("cannot listen on {}:{}: {}", options.address, options.port,
                        error.message());
  }

  void Run(Runtime& runtime) {
    Accept();
    for (int i = 0; i < shared_->options.threads; ++i) {
      threads_.emplace_back(runtime, "http", [this] { context_.run(); });
    }
  }

  std::uint16_t port() const override { return port_; }

  std::int64_t connection_count() const override { return shared_->connection_count; }

  std::int64_t refused_count() const override { return shared_->refused_count; }

  void Drain() override {
    shared_->draining = true;
    net::post(acceptor_.get_executor(), [this] {
      ErrorCode error;
      acceptor_.close(error);
      retry_timer_.cancel();
      for (const auto& weak : connections_) {
        if (const auto connection = weak.lock()) connection->Drain();
      }
    });
  }

 private:
  void Accept() {
    acceptor_.async_accept(net::make_strand(context_),
                           [this](ErrorCode error, net::ip::tcp::socket socket) {
                             OnAccepted(error, std::move(socket));
                           });
  }

  void OnAccepted(ErrorCode error, net::ip::tcp::socket socket) {
    if (shared_->draining) return;
    if (error) return AcceptLater();
    const bool is_full = shared_->connection_count >= shared_->options.connections_max;
    const auto connection =
        std::make_shared<ServerConnection>(std::move(socket), shared_);
    if (is_full) {
      connection->Refuse();
    } else {
      Remember(connection);
      connection->Start();
    }
    Accept();
  }

  void AcceptLater() {
    retry_timer_.expires_after(kAcceptRetryWait);
    retry_timer_.async_wait([this](ErrorCode error) {
      if (!error) Accept();
    });
  }

  /// Forgets those that have ended once they are half of what is remembered.
  void Remember(const std::shared_ptr<ServerConnection>& connection) {
    connections_.push_back(connection);
    const auto open = static_cast<std::size_t>(shared_->connection_count.load());
    if (connections_.size() < 2 * open + 64) return;
    std::erase_if(connections_, [](const auto& weak) { return weak.expired(); });
  }

  const std::shared_ptr<ServerShared> shared_;
  net::io_context context_;
  // Used on the acceptor's strand.
  net::ip::tcp::acceptor acceptor_;
  net::steady_timer retry_timer_;
  std::vector<std::weak_ptr<ServerConnection>> connections_;
  std::uint16_t port_ = 0;
  std::vector<Thread> threads_;
};

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::Start(Runtime& runtime,
                                                      ServerOptions options,
                                                      Handler handler) {
  auto server =
      std::make_unique<BeastServer>(runtime, std::move(options), std::move(handler));
  FIRN_RETURN_NOT_OK(server->Listen());
  server->Run(runtime);
  return server;
}

}  // namespace firn::http
