#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/core/fake_runtime.h"
#include "firn/http/testing/test_server.h"
#include "firn/storage/s3/s3_store.h"

namespace firn::storage::s3 {

using http::Drop;
using http::ReceivedRequest;
using http::Reply;

inline constexpr const char* kMark = "x-amz-meta-firn-put";

inline Reply ErrorReply(int status, const std::string& code) {
  return {.status = status, .body = fmt::format("<Error><Code>{}</Code></Error>", code)};
}

/// Just enough of S3 to put and get.
class FakeS3 {
 public:
  Reply Apply(const ReceivedRequest& request) {
    if (request.target.find("?uploads=") != std::string::npos) return Start(request);
    if (request.target.find("uploadId=") != std::string::npos) return Part(request);
    if (request.method == "PUT") return Put(request.target, request, request.body);
    const auto object = objects.find(request.target);
    if (object == objects.end()) return ErrorReply(404, "NoSuchKey");
    return {.headers = {{kMark, object->second.mark}}, .body = object->second.body};
  }

  struct Object {
    std::string body;
    std::string mark;
  };
  std::map<std::string, Object> objects;  // by path

 private:
  static std::string MarkOf(const ReceivedRequest& request) {
    return std::string(http::FindHeader(request.headers, kMark).value_or(""));
  }

  Reply Put(const std::string& path, const ReceivedRequest& request,
            const std::string& body) {
    const bool if_absent = http::FindHeader(request.headers, "If-None-Match") == "*";
    if (if_absent && objects.contains(path)) return ErrorReply(412, "PreconditionFailed");
    objects[path] = {.body = body, .mark = MarkOf(request)};
    return {.headers = {{"ETag", "\"e\""}}};
  }

  Reply Start(const ReceivedRequest& request) {
    upload_ = {.body = "", .mark = MarkOf(request)};
    return {.body =
                "<InitiateMultipartUploadResult><UploadId>u</UploadId>"
                "</InitiateMultipartUploadResult>"};
  }

  Reply Part(const ReceivedRequest& request) {
    if (!upload_.has_value()) return ErrorReply(404, "NoSuchUpload");
    const std::string path = request.target.substr(0, request.target.find('?'));
    if (request.method == "PUT") {
      upload_->body += request.body;
      return {.headers = {{"ETag", fmt::format("\"{}\"", upload_->body.size())}}};
    }
    if (request.method == "POST") {
      objects[path] = *upload_;
      upload_.reset();
      return {.body = "<CompleteMultipartUploadResult/>"};
    }
    upload_.reset();
    return {.status = 204};
  }

  std::optional<Object> upload_;
};

class CountingCredentials : public CredentialsProvider {
 public:
  Result<Credentials> Get() override {
    return Credentials{.access_key_id = fmt::format("id{}", generation_),
                       .secret_access_key = "secret"};
  }
  void Forget(const Credentials&) override { ++generation_; }

 private:
  std::atomic<int> generation_ = 0;
};

class S3StoreTest : public ::testing::Test {
 protected:
  using Step = std::function<Reply(const ReceivedRequest&)>;

  ~S3StoreTest() override { gate_.Open(); }

  void Open(const std::function<void(S3StoreOptions&)>& change = [](S3StoreOptions&) {}) {
    S3StoreOptions options{.root = "lake/root"};
    options.client.endpoint.url = server_->Url();
    options.client.endpoint.addressing = S3Endpoint::Addressing::kPath;
    change(options);
    store_ = *S3Store::Make(runtime_, *http_, credentials_, options);
  }

  /// What becomes of the next requests, one by one; later ones are carried out.
  void Next(std::initializer_list<Step> steps) {
    MutexLock lock(mutex_);
    steps_ = steps;
  }

  Reply Handle(const ReceivedRequest& request) { return TakeStep()(request); }

  Step TakeStep() {
    MutexLock lock(mutex_);
    if (steps_.empty()) return ok_;
    const Step step = steps_.front();
    if (steps_.size() > 1 || !repeat_last_) steps_.pop_front();
    return step;
  }

  void Always(Step step) {
    repeat_last_ = true;
    Next({std::move(step)});
  }

  std::vector<std::string> Methods() {
    std::vector<std::string> methods;
    for (const ReceivedRequest& request : server_->Requests()) {
      methods.push_back(request.method);
    }
    return methods;
  }

  void ExpectKind(const Status& status, ErrorKind kind) {
    EXPECT_TRUE(IsError(status, kind)) << status;
    EXPECT_THAT(ErrorText(status), ::testing::Not(::testing::HasSubstr("secret")));
  }

  Status PutIfAbsent(const std::string& bytes) {
    return store_->PutWhole("a", bytes, PutMode::kIfAbsent);
  }

  FakeRuntime runtime_;
  FakeS3 s3_;
  Mutex mutex_{runtime_};
  std::deque<Step> steps_;  // guarded by mutex_
  bool repeat_last_ = false;
  http::Gate gate_{runtime_};

  const Step ok_ = [this](const ReceivedRequest& request) { return s3_.Apply(request); };
  const Step apply_and_drop_ = [this](const ReceivedRequest& request) {
    (void)s3_.Apply(request);
    return Drop();
  };
  const Step drop_ = [](const ReceivedRequest&) { return Drop(); };
  const Step hang_ = [this](const ReceivedRequest&) {
    gate_.Wait();
    return Drop();
  };
  static Step Fail(int status, const std::string& code) {
    return [=](const ReceivedRequest&) { return ErrorReply(status, code); };
  }

  std::unique_ptr<http::TestServer> server_ = std::make_unique<http::TestServer>(
      runtime_, [this](const ReceivedRequest& request) { return Handle(request); });
  const std::unique_ptr<http::HttpClient> http_ =
      *http::MakeHttpClient(SystemRuntime(), {.use_environment_proxy = false});
  CountingCredentials credentials_;
  std::unique_ptr<S3Store> store_;
};

}  // namespace firn::storage::s3
