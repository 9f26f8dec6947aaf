#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/core/base64.h"
#include "firn/core/bounded_queue.h"
#include "firn/core/fake_runtime.h"
#include "firn/core/ids.h"
#include "firn/core/memory_budget.h"
#include "firn/core/status.h"
#include "firn/core/ulid.h"

namespace firn {
namespace {

using std::chrono::milliseconds;

TEST(StatusTest, KindSurvivesContext) {
  const Status failed = Error(ErrorKind::kConflict, "sequence number {} is taken", 7);
  const Status with_context = AddContext(failed, "commit of db.events");
  EXPECT_TRUE(IsError(with_context, ErrorKind::kConflict));
  EXPECT_FALSE(IsError(with_context, ErrorKind::kNotFound));
  EXPECT_EQ(ErrorText(with_context), "commit of db.events: sequence number 7 is taken");
}

TEST(StatusTest, PlainFailureHasNoKind) {
  EXPECT_FALSE(IsError(InvalidError("no such column"), ErrorKind::kCorruption));
  EXPECT_FALSE(IsError(Status::OK(), ErrorKind::kCorruption));
}

TEST(Base64Test, RoundTripsEveryLength) {
  std::string bytes;
  for (int i = 0; i < 70; ++i) {
    EXPECT_EQ(DecodeBase64(EncodeBase64(bytes)).ValueOrDie(), bytes);
    bytes.push_back(static_cast<char>(i * 37));
  }
  EXPECT_EQ(EncodeBase64("any carnal pleas"), "YW55IGNhcm5hbCBwbGVhcw==");
}

TEST(Base64Test, RefusesWhatIsNotCanonical) {
  for (const char* text :
       {"YQ", "YQ=", "YR==", "Y===", "====", "YQ==YQ==", "Y\nQ=", "YWI?"}) {
    EXPECT_TRUE(IsError(DecodeBase64(text).status(), ErrorKind::kCorruption)) << text;
  }
}

TEST(UlidTest, SortsByTimeAndIsRecognized) {
  FakeRuntime runtime;
  const std::string first = NewUlid(runtime);
  const std::string same_time = NewUlid(runtime);
  runtime.Advance(milliseconds(1));
  const std::string later = NewUlid(runtime);
  EXPECT_NE(first, same_time);
  EXPECT_LT(first, later);
  EXPECT_TRUE(IsUlid(later));
  EXPECT_FALSE(IsUlid(later.substr(1)));
  EXPECT_FALSE(IsUlid("U" + later.substr(1)));
}

TEST(UlidTest, UuidIsVersionFour) {
  FakeRuntime runtime;
  EXPECT_THAT(NewUuid(runtime),
              testing::MatchesRegex(
                  "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"));
}

TEST(StopTest, TokenSeesTheRequest) {
  StopSource source;
  const StopToken token = source.token();
  EXPECT_TRUE(token.Check().ok());
  source.RequestStop();
  EXPECT_TRUE(IsError(token.Check(), ErrorKind::kCancelled));
  EXPECT_TRUE(StopToken().Check().ok());
}

TEST(BoundedQueueTest, PushBlocksUntilThereIsRoom) {
  BoundedQueue<int> queue(SystemRuntime(), 1);
  ASSERT_TRUE(queue.Push(1));
  Thread producer(SystemRuntime(), "producer", [&] {
    queue.Push(2);
    queue.Close();
  });
  EXPECT_EQ(queue.Pop(), 1);
  EXPECT_EQ(queue.Pop(), 2);
  EXPECT_EQ(queue.Pop(), std::nullopt);
  EXPECT_FALSE(queue.Push(3));
}

TEST(MemoryBudgetTest, WaitsForARelease) {
  MemoryBudget budget(SystemRuntime(), 100);
  MemoryReservation first = budget.Reserve(80, {}).ValueOrDie();
  Thread waiter(SystemRuntime(), "waiter",
                [&] { EXPECT_EQ(budget.Reserve(60, {}).ValueOrDie().bytes(), 60); });
  EXPECT_EQ(budget.used_bytes(), 80);
  first.Release();
  waiter.Join();
  EXPECT_EQ(budget.used_bytes(), 0);
}

TEST(MemoryBudgetTest, GrantsMoreThanTheLimitOnlyAlone) {
  MemoryBudget budget(SystemRuntime(), 100);
  MemoryReservation large = budget.Reserve(500, {}).ValueOrDie();
  StopSource stop;
  stop.RequestStop();
  EXPECT_TRUE(IsError(budget.Reserve(1, stop.token()).status(), ErrorKind::kCancelled));
}

}  // namespace
}  // namespace firn
