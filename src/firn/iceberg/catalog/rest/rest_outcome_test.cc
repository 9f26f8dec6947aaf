#include "firn/iceberg/catalog/rest/rest_outcome.h"

#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace firn::iceberg::rest {
namespace {

using testing::HasSubstr;

constexpr const char* kProxyPage = "<html>nginx</html>";

std::string Body(const std::string& message) {
  return R"({"error": {"type": "T", "code": 0, "message": ")" + message + R"("}})";
}

std::string KindName(const Status& status) {
  for (const ErrorKind kind :
       {ErrorKind::kNotFound, ErrorKind::kAlreadyExists, ErrorKind::kConflict,
        ErrorKind::kOutcomeUnknown, ErrorKind::kUnavailable, ErrorKind::kCorruption}) {
    if (IsError(status, kind)) return std::string(ErrorKindName(kind));
  }
  return status.ok() ? "ok" : "none";
}

/// "read create change".
std::string Kinds(int status, const std::string& body = Body("words")) {
  std::string kinds;
  for (const CallKind kind : {CallKind::kRead, CallKind::kCreate, CallKind::kChange}) {
    const Call call{.kind = kind, .method = "POST", .path = "/v1/x"};
    kinds += (kinds.empty() ? "" : " ") + KindName(OutcomeOf(call, status, body));
  }
  return kinds;
}

TEST(RestOutcomeTest, EachStatusHasItsReaction) {
  const std::string unavailable(ErrorKindName(ErrorKind::kUnavailable));
  const std::string unknown(ErrorKindName(ErrorKind::kOutcomeUnknown));
  const std::string conflict(ErrorKindName(ErrorKind::kConflict));
  const std::string exists(ErrorKindName(ErrorKind::kAlreadyExists));
  const std::string missing(ErrorKindName(ErrorKind::kNotFound));
  EXPECT_EQ(Kinds(200), "ok ok ok");
  EXPECT_EQ(Kinds(204, ""), "ok ok ok");
  const std::string may_have_changed = unavailable + " " + unknown + " " + unknown;
  for (const int status : {408, 500, 501, 502, 503, 504, 599}) {
    EXPECT_EQ(Kinds(status), may_have_changed) << status;
  }
  EXPECT_EQ(Kinds(502, kProxyPage), may_have_changed);
  EXPECT_EQ(Kinds(429), unavailable + " " + unavailable + " " + unavailable);
  EXPECT_EQ(Kinds(409), conflict + " " + exists + " " + conflict);
  EXPECT_EQ(Kinds(404), missing + " " + missing + " " + missing);
  EXPECT_EQ(Kinds(404, kProxyPage), "none none none");
  for (const int status : {301, 400, 401, 403, 406, 419, 422}) {
    EXPECT_EQ(Kinds(status), "none none none") << status;
  }
}

TEST(RestOutcomeTest, ARefusalThatFollowsFromAnothersCommitIsAConflict) {
  const std::string conflict(ErrorKindName(ErrorKind::kConflict));
  for (const char* words :
       {"Cannot add snapshot with sequence number 3 older than last sequence number 5",
        "Cannot add a snapshot, first-row-id is behind table next-row-id: 1 < 2",
        "bad Sequence-Number"}) {
    EXPECT_EQ(Kinds(400, Body(words)), "none none " + conflict) << words;
  }
  EXPECT_EQ(Kinds(403, Body("sequence number")), "none none none");
}

std::string Message(int status, const std::string& body) {
  const Call call{.kind = CallKind::kChange, .method = "POST", .path = "/v1/x"};
  return OutcomeOf(call, status, body).message();
}

TEST(RestOutcomeTest, TheServersWordsAreShown) {
  EXPECT_THAT(Message(403, Body("keep out")),
              HasSubstr("POST /v1/x: the server answers 403: T: keep out"));
  EXPECT_THAT(Message(502, kProxyPage), HasSubstr("502: <html>nginx</html>"));
  EXPECT_THAT(Message(500, ""), HasSubstr("500: no reason given"));
  EXPECT_THAT(Message(401, "{}"), HasSubstr("look at the catalog's credential or token"));
  EXPECT_THAT(Message(404, kProxyPage), HasSubstr("look at its uri"));
}

TEST(RestOutcomeTest, WordsAreCutBetweenCharactersAndPrintable) {
  std::string words(999, 'a');
  words += "é";
  EXPECT_THAT(Message(500, words + "tail"), testing::EndsWith("aaa..."));
  EXPECT_THAT(Message(500, "a\r\n\x1b[1mb"), HasSubstr("500: a   [1mb"));
}

TEST(RestOutcomeTest, ABrokenYesToAChangeIsUnknown) {
  const Status why = InvalidError("metadata: missing");
  const Status read = BrokenAnswer({CallKind::kRead, "GET", "/v1/x"}, why);
  EXPECT_TRUE(IsError(read, ErrorKind::kCorruption));
  EXPECT_THAT(read.message(), HasSubstr("GET /v1/x: the server's answer cannot be used: "
                                        "metadata: missing"));
  const Status change = BrokenAnswer({CallKind::kChange, "POST", "/v1/x"}, why);
  EXPECT_TRUE(IsError(change, ErrorKind::kOutcomeUnknown));
}

}  // namespace
}  // namespace firn::iceberg::rest
