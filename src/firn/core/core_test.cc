#include <functional>
#include <limits>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/core/base64.h"
#include "firn/core/bounded_queue.h"
#include "firn/core/fake_runtime.h"
#include "firn/core/ids.h"
#include "firn/core/memory_budget.h"
#include "firn/core/percent_decoded.h"
#include "firn/core/status.h"
#include "firn/core/ulid.h"
#include "firn/core/whole_number.h"

namespace firn {
namespace {

using std::chrono::milliseconds;

constexpr std::int64_t kLongMax = std::numeric_limits<std::int64_t>::max();

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

TEST(UlidTest, UuidOfVersionSevenBeginsWithItsTime) {
  FakeRuntime runtime(1, WallTime(std::chrono::milliseconds(0x017F22E279B0)));
  EXPECT_THAT(
      NewUuidV7(runtime),
      testing::MatchesRegex("017f22e2-79b0-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"));
  EXPECT_NE(NewUuidV7(runtime), NewUuidV7(runtime));
}

TEST(StopTest, TokenSeesTheRequest) {
  StopSource source;
  const StopToken token = source.token();
  EXPECT_TRUE(token.Check().ok());
  source.RequestStop();
  EXPECT_TRUE(IsError(token.Check(), ErrorKind::kCancelled));
  EXPECT_TRUE(StopToken().Check().ok());
}

/// Whoever waits runs `while_waiting` instead, as if another thread did: so a test sees
/// that there is a wait, and what ends it.
class WaitRuntime : public FakeRuntime {
 public:
  std::unique_ptr<internal::ConditionPrimitive> MakeCondition() override {
    return std::make_unique<Condition>(*this);
  }

  std::function<void()> while_waiting = [] { FAIL() << "waits"; };

 private:
  class Condition : public internal::ConditionPrimitive {
   public:
    explicit Condition(WaitRuntime& runtime) : runtime_(runtime) {}
    void Wait(internal::LockPrimitive& lock) override {
      lock.Unlock();
      runtime_.while_waiting();
      lock.Lock();
    }
    bool WaitFor(internal::LockPrimitive& lock, Duration) override {
      Wait(lock);
      return true;
    }
    void NotifyOne() override {}
    void NotifyAll() override {}

   private:
    WaitRuntime& runtime_;
  };
};

TEST(BoundedQueueTest, PushWaitsForRoom) {
  WaitRuntime runtime;
  BoundedQueue<int> queue(runtime, 2);
  ASSERT_TRUE(queue.Push(1));
  ASSERT_TRUE(queue.Push(2));
  std::optional<int> popped;
  runtime.while_waiting = [&] { popped = queue.Pop(); };
  ASSERT_TRUE(queue.Push(3));
  EXPECT_EQ(popped, 1);
}

TEST(BoundedQueueTest, PopWaitsForAnItem) {
  WaitRuntime runtime;
  BoundedQueue<int> queue(runtime, 1);
  runtime.while_waiting = [&] { ASSERT_TRUE(queue.Push(1)); };
  EXPECT_EQ(queue.Pop(), 1);
}

TEST(BoundedQueueTest, AClosedQueueGivesWhatItHoldsAndTakesNoMore) {
  WaitRuntime runtime;
  BoundedQueue<int> queue(runtime, 1);
  ASSERT_TRUE(queue.Push(1));
  runtime.while_waiting = [&] { queue.Close(); };
  EXPECT_FALSE(queue.Push(2));
  EXPECT_EQ(queue.Pop(), 1);
  EXPECT_EQ(queue.Pop(), std::nullopt);
  EXPECT_FALSE(queue.Push(3));
}

TEST(BoundedQueueTest, TryPushNeverWaits) {
  BoundedQueue<int> queue(SystemRuntime(), 1);
  EXPECT_TRUE(queue.TryPush(1));
  EXPECT_FALSE(queue.TryPush(2));
  EXPECT_EQ(queue.Pop(), 1);
  queue.Close();
  EXPECT_FALSE(queue.TryPush(3));
}

TEST(BoundedQueueTest, HandsOverBetweenThreads) {
  BoundedQueue<int> queue(SystemRuntime(), 1);
  Thread producer(SystemRuntime(), "producer", [&] {
    for (int i = 0; i < 1'000; ++i) queue.Push(i);
    queue.Close();
  });
  for (int i = 0; i < 1'000; ++i) ASSERT_EQ(queue.Pop(), i);
  EXPECT_EQ(queue.Pop(), std::nullopt);
}

TEST(PercentDecodedTest, TakesTwoDigitsBehindEachPercentSign) {
  EXPECT_EQ(PercentDecoded("a%2eB%C3%a9%"
                           "25"),
            "a.B\xc3\xa9%");
  for (const char* text : {"%", "a%2", "%2g", "%%20"}) {
    EXPECT_EQ(PercentDecoded(text), std::nullopt) << text;
  }
}

TEST(WholeNumberTest, TakesDigitsAloneThatFit) {
  EXPECT_EQ(ParseWholeNumber<std::int64_t>("-9223372036854775808"),
            std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(ParseWholeNumber<std::uint64_t>("007"), 7);
  for (const char* text :
       {"", "-", "+1", " 1", "1 ", "0x1", "1.0", "1e3", "2147483648"}) {
    EXPECT_EQ(ParseWholeNumber<std::int32_t>(text), std::nullopt) << text;
  }
  EXPECT_EQ(ParseWholeNumber<std::uint32_t>("-1"), std::nullopt);
}

TEST(MemoryBudgetTest, WaitsForARelease) {
  WaitRuntime runtime;
  MemoryBudget budget(runtime, 100);
  MemoryReservation first = budget.Reserve(80, {}).ValueOrDie();
  int waits = 0;
  runtime.while_waiting = [&] {
    EXPECT_EQ(budget.used_bytes(), 80);
    if (++waits == 2) first.Release();
  };
  const MemoryReservation second = budget.Reserve(60, {}).ValueOrDie();
  EXPECT_EQ(waits, 2);
  EXPECT_EQ(budget.used_bytes(), 60);
}

TEST(MemoryBudgetTest, TryReserveNeverWaits) {
  MemoryBudget budget(SystemRuntime(), 100);
  auto most = budget.TryReserve(60);
  ASSERT_TRUE(most);
  EXPECT_FALSE(budget.TryReserve(41));
  EXPECT_TRUE(budget.TryReserve(40));
  most->Release();
  EXPECT_TRUE(budget.TryReserve(1000));
}

TEST(MemoryBudgetTest, AShareLeavesTheRestToOthers) {
  MemoryBudget budget(SystemRuntime(), 100);
  const MemoryShare share = {.budget = &budget, .limit_bytes = 50};
  MemoryReservation held = share.TryReserve(40).value();
  EXPECT_FALSE(share.TryReserve(20));
  held.Add(budget.TryReserve(30).value());
  EXPECT_EQ(held.bytes(), 70);
  EXPECT_FALSE(share.TryReserve(1));
  held.Release();
  EXPECT_EQ(budget.used_bytes(), 0);
}

TEST(MemoryBudgetTest, GrantsMoreThanTheLimitOnlyAlone) {
  MemoryBudget budget(SystemRuntime(), 100);
  MemoryReservation large = budget.Reserve(500, {}).ValueOrDie();
  StopSource stop;
  stop.RequestStop();
  for (const std::int64_t bytes : {std::int64_t{1}, kLongMax}) {
    EXPECT_TRUE(
        IsError(budget.Reserve(bytes, stop.token()).status(), ErrorKind::kCancelled));
  }
}

}  // namespace
}  // namespace firn
