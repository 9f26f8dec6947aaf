#include "firn/jobs/http_endpoints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/jobs/memory_shares.h"
#include "firn/jobs/test_pipeline.h"

namespace firn::jobs {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class HttpEndpointsTest : public ::testing::Test {
 protected:
  HttpEndpointsTest() { test_.Start(); }

  TestPipeline test_;
};

TEST_F(HttpEndpointsTest, TellsHowItGoes) {
  EXPECT_EQ(test_.Request("GET", "/healthz"), "200 ok");
  EXPECT_TRUE(test_.Eventually(
      [&] { return test_.Request("GET", "/readyz?x=y") == "200 ready"; }));
  ASSERT_THAT(test_.Post(R"({"id":1})"), StartsWith("200 "));
  EXPECT_TRUE(test_.Eventually([&] {
    return test_.Request("GET", "/metrics")
               .find("firn_ingest_records_total{table=\"db.t\"} 1") != std::string::npos;
  }));
}

TEST_F(HttpEndpointsTest, IsNotReadyWhileTheCatalogIsDown) {
  TestPipeline down;
  down.catalog_script().before_load = [] {
    return MakeError(ErrorKind::kUnavailable, "down");
  };
  down.Start();
  EXPECT_THAT(down.Request("GET", "/readyz"), StartsWith("503 "));
  EXPECT_EQ(down.Request("GET", "/healthz"), "200 ok");
  EXPECT_EQ(down.Post(R"({"id":1})"), R"(503 {"error":"down"})");
}

TEST_F(HttpEndpointsTest, SaysWhatIsWrongWithARequest) {
  EXPECT_EQ(test_.Post("{}", "db.nothing"),
            R"(404 {"error":"there is no table db.nothing; 'firn table create )"
            R"(db.nothing' makes it"})");
  EXPECT_THAT(test_.Post("{}", "nothing"), StartsWith("400 "));
  EXPECT_THAT(test_.Post("{}", "db.%zz"), HasSubstr("not percent-encoded"));
  EXPECT_THAT(test_.Post("[1]"), HasSubstr("line 1: the body is JSON, but"));
  EXPECT_THAT(test_.Request("GET", "/v1/tables/db.t"), StartsWith("405 "));
  EXPECT_THAT(test_.Request("POST", "/metrics"), StartsWith("405 "));
  EXPECT_THAT(test_.Request("GET", "/"), StartsWith("404 "));
}

TEST_F(HttpEndpointsTest, ABodyWithoutRecordsIsAnsweredAtOnce) {
  EXPECT_EQ(test_.Post("\n"), R"(200 {"accepted":0,"dead_lettered":0})");
}

TEST_F(HttpEndpointsTest, AStrictRequestIsTakenWholeOrNotAtAll) {
  const std::string body = "{\"id\":1}\nnonsense\n";
  const std::string answer = test_.Request("POST", "/v1/tables/db.t?strict=true", body);
  EXPECT_THAT(answer,
              StartsWith(R"(400 {"bad_records":1,"error":"records do not fit; )"));
  EXPECT_THAT(answer, HasSubstr(R"("line":2)"));
  EXPECT_EQ(test_.Segments(), 0U);
  EXPECT_THAT(test_.Request("POST", "/v1/tables/db.t?strict=false", body),
              StartsWith(R"(200 {"accepted":1,"dead_lettered":1,)"));
  EXPECT_THAT(test_.Request("POST", "/v1/tables/db.t?strikt=true", body),
              StartsWith("400 "));
}

TEST_F(HttpEndpointsTest, RefusesEncodingsAndSizesThatItCannotTake) {
  const auto post = [&](const std::string& encoding, const std::string& body) {
    return test_.Request("POST", "/v1/tables/db.t", body,
                         {{"content-encoding", encoding}});
  };
  EXPECT_THAT(post("br", "x"), StartsWith("415 "));
  EXPECT_THAT(post("gzip", "x"), StartsWith("400 "));
  EXPECT_THAT(post("identity", std::string(1001, '\n')), StartsWith("200 "));
  // 2,000 blanks.
  const std::string gzip(
      "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x53\x50\x18\x05\xa3\x60\x14\x8c\x82"
      "\x51\x30\x0a\x46\xc1\x50\x07\x00\x2a\xca\x16\x55\xd0\x07\x00\x00",
      35);
  EXPECT_THAT(post("gzip", gzip), StartsWith("413 "));
}

TEST_F(HttpEndpointsTest, DeadLettersAreCountedByTheClassOfTheirReason) {
  ASSERT_THAT(test_.Post("x\n{}\n{\"id\":1,\"no\":1}\n{\"id\":\"x\"}\n{\"id\":\"y\"}"),
              StartsWith(R"(200 {"accepted":0,"dead_lettered":5,)"));
  const std::string metrics = test_.Request("GET", "/metrics");
  for (const char* series : {R"(reason="malformed",table="db.t"} 1)",
                             R"(reason="missing_value",table="db.t"} 1)",
                             R"(reason="unknown_column",table="db.t"} 1)",
                             R"(reason="invalid_value",table="db.t"} 2)"}) {
    EXPECT_THAT(metrics, HasSubstr(series));
  }
}

TEST_F(HttpEndpointsTest, ABodyWhoseRecordsFindNoMemoryIsToBeSentAgain) {
  std::string body;
  for (int i = 0; i < 100'000; ++i) body += "{\"id\":1}\n";
  auto held =
      test_.buffer_memory().TryReserve(RecordShare(test_.buffer_memory()).limit_bytes);
  EXPECT_THAT(test_.Post(body), StartsWith(R"(503 {"error":"no memory for the body's)"));
  EXPECT_THAT(test_.Request("GET", "/metrics"),
              HasSubstr(R"(firn_ingest_refused_total{table="db.t"} 1)"));
  held.reset();
  EXPECT_EQ(test_.Post(body), R"(200 {"accepted":100000,"dead_lettered":0})");
  EXPECT_TRUE(test_.Eventually([&] { return test_.buffer_memory().used_bytes() == 0; }));
}

TEST_F(HttpEndpointsTest, ABodyWhoseRecordsNeverFindMemoryIsTooLarge) {
  std::string body;
  for (int i = 0; i < 200'000; ++i) body += "x\n";
  EXPECT_THAT(test_.Post(body), StartsWith("413 "));
  EXPECT_EQ(test_.buffer_memory().used_bytes(), 0);
}

class UnknownFieldsTest : public ::testing::Test {
 protected:
  UnknownFieldsTest() { Keep("rest"); }

  void Keep(const std::string& column) {
    test_.upload_options().format.unknown_fields_column = column;
    test_.Start();
  }

  TestPipeline test_;
};

TEST_F(UnknownFieldsTest, TheirColumnIsAddedOnceItIsNeeded) {
  EXPECT_THAT(test_.Post(R"({"id":1})"), StartsWith("200 "));
  EXPECT_EQ(test_.Columns(), "id: long, name: string");
  EXPECT_EQ(test_.Post("{\"id\":1,\"x\":0.5}\n{\"id\":2}\n{\"id\":3,\"Name\":1}\n"),
            R"(200 {"accepted":2,"dead_lettered":1,"dead_letters":[{"line":3,)"
            R"("reason":"the table has no column 'Name', but one that is written )"
            R"('name'"}]})");
  EXPECT_EQ(test_.Columns(), "id: long, name: string, rest: map<string, string>");
  EXPECT_THAT(test_.Post(R"({"id":1,"y":[1],"rest":{"z":"a"}})"), StartsWith("200 "));
  EXPECT_EQ(test_.Columns(), "id: long, name: string, rest: map<string, string>");
  EXPECT_TRUE(test_.EventuallyHasRows(4));
  EXPECT_EQ(test_.buffer_memory().used_bytes(), 0);
}

TEST_F(UnknownFieldsTest, ARefusedStrictRequestAddsNoColumn) {
  EXPECT_THAT(test_.Request("POST", "/v1/tables/db.t?strict=true",
                            "{\"id\":1,\"x\":1}\nnonsense\n"),
              StartsWith("400 "));
  EXPECT_EQ(test_.Columns(), "id: long, name: string");
  EXPECT_THAT(test_.Request("POST", "/v1/tables/db.t?strict=true", R"({"id":1,"x":1})"),
              StartsWith("200 "));
  EXPECT_EQ(test_.Columns(), "id: long, name: string, rest: map<string, string>");
}

TEST_F(UnknownFieldsTest, AColumnThatCannotKeepThemIsNoFaultOfTheSender) {
  Keep("name");
  EXPECT_THAT(test_.Post(R"({"id":1,"x":1})"),
              AllOf(StartsWith("503 "), HasSubstr("map<string, string>")));
  Keep("Name");
  EXPECT_THAT(test_.Post(R"({"id":1,"x":1})"),
              StartsWith(R"(200 {"accepted":0,"dead_lettered":1,)"));
}

class EvolvingTest : public ::testing::Test {
 protected:
  EvolvingTest() {
    test_.upload_options().evolves = true;
    test_.Start();
  }

  TestPipeline test_;
};

TEST_F(EvolvingTest, RecordsAddTheColumnsThatTheyHave) {
  EXPECT_EQ(test_.Post("{\"id\":1,\"x\":0.5}\n{\"id\":2}\nnonsense\n"),
            R"(200 {"accepted":2,"dead_lettered":1,"dead_letters":[{"line":3,)"
            R"("reason":"not JSON: no value at byte 1"}]})");
  EXPECT_EQ(test_.Columns(), "id: long, name: string, x: double");
  EXPECT_TRUE(test_.EventuallyHasRows(2));
  EXPECT_TRUE(test_.EventuallyHasRows(1, "db.t__dead_letters"));
  EXPECT_EQ(test_.buffer_memory().used_bytes(), 0);
}

TEST_F(EvolvingTest, WhatTheTableCannotBecomeIsADeadLetter) {
  EXPECT_THAT(test_.Post(R"({"id":1,"Name":"a"})"),
              StartsWith(R"(200 {"accepted":0,"dead_lettered":1,)"));
  EXPECT_THAT(test_.Post(R"({"name":"a","x":1})"),
              StartsWith(R"(200 {"accepted":0,"dead_lettered":1,)"));
  EXPECT_EQ(test_.Columns(), "id: long, name: string");
}

TEST_F(EvolvingTest, ARefusedStrictRequestChangesNothing) {
  EXPECT_THAT(test_.Request("POST", "/v1/tables/db.t?strict=true",
                            "{\"id\":1,\"x\":1}\nnonsense\n"),
              StartsWith("400 "));
  EXPECT_EQ(test_.Columns(), "id: long, name: string");
  EXPECT_THAT(test_.Request("POST", "/v1/tables/db.t?strict=true", R"({"id":1,"x":1})"),
              StartsWith("200 "));
  EXPECT_EQ(test_.Columns(), "id: long, name: string, x: long");
  EXPECT_TRUE(test_.Eventually([&] { return test_.buffer_memory().used_bytes() == 0; }));
}

TEST_F(EvolvingTest, ACatalogThatCannotBeWrittenMakesNoDeadLetters) {
  test_.catalog_script().before_commit = [](const auto&) {
    return InvalidError("readonly");
  };
  EXPECT_THAT(test_.Post(R"({"id":1,"x":1})"), StartsWith("503 "));
}

TEST_F(EvolvingTest, RequestsAtOnceAddWhatAnyOfThemHas) {
  std::vector<std::function<std::string()>> answers;
  for (int i = 0; i < 20; ++i) {
    answers.push_back(test_.PostLater(fmt::format(R"({{"id":{},"c{}":"x"}})", i, i % 3)));
  }
  for (const auto& answer : answers) {
    // One may meet a table that another has changed since it was read.
    const std::string said = answer();
    EXPECT_THAT(
        said, ::testing::AnyOf(StartsWith(R"(200 {"accepted":1,)"), StartsWith("503 ")));
  }
  for (const char* column : {"c0: string", "c1: string", "c2: string"}) {
    EXPECT_THAT(test_.Columns(), HasSubstr(column));
  }
}

TEST_F(EvolvingTest, ACatalogThatIsDownMakesTheSenderComeAgain) {
  ASSERT_THAT(test_.Post(R"({"id":1})"), StartsWith("200 "));
  test_.catalog_script().before_load = [] {
    return MakeError(ErrorKind::kUnavailable, "down");
  };
  const auto answer = test_.PostLater(R"({"id":2,"x":1})");
  test_.Close();
  EXPECT_THAT(answer(), StartsWith("503 "));
  EXPECT_EQ(test_.Columns(), "id: long, name: string");
}

TEST_F(HttpEndpointsTest, DecodesTheNameOfTheTable) {
  EXPECT_THAT(test_.Post(R"({"id":1})", "db%2E%74"), StartsWith("200 "));
}

}  // namespace
}  // namespace firn::jobs
