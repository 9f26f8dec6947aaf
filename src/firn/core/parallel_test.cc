#include "firn/core/parallel.h"

#include <atomic>
#include <set>

#include <gtest/gtest.h>

#include "firn/core/fake_runtime.h"

namespace firn {
namespace {

constexpr std::size_t kCount = 100;

class ParallelTest : public testing::Test {
 protected:
  Status ForEach(std::size_t count, std::size_t threads_max,
                 const std::function<Status(std::size_t)>& body) {
    return ForEachInParallel(runtime_, count,
                             {.threads_max = threads_max, .thread_name = "test"},
                             [&](std::size_t i) {
                               const Status status = body(i);
                               MutexLock lock(mutex_);
                               EXPECT_TRUE(called_.insert(i).second) << i;
                               return status;
                             });
  }

  FakeRuntime runtime_;
  Mutex mutex_{runtime_};
  std::set<std::size_t> called_;  // guarded by mutex_
};

TEST_F(ParallelTest, EachIsCalledOnce) {
  for (const std::size_t threads_max : {0, 1, 3, 200}) {
    called_.clear();
    EXPECT_TRUE(ForEach(kCount, threads_max, [](auto) { return Status::OK(); }).ok());
    EXPECT_EQ(called_.size(), kCount);
  }
  EXPECT_TRUE(ForEach(0, 3, [](auto) { return InvalidError("called"); }).ok());
}

TEST_F(ParallelTest, SoManyAreCalledAtATime) {
  constexpr int kThreads = 4;
  std::atomic<int> inside = 0;
  const Status status = ForEach(kThreads, kThreads, [&](auto) {
    // Returns only if all of them are inside together.
    ++inside;
    while (inside < kThreads) SystemRuntime().Sleep(Duration(100));
    return Status::OK();
  });
  EXPECT_TRUE(status.ok());
}

TEST_F(ParallelTest, TheErrorIsTheFirstInOrderWhicheverFailsFirst) {
  std::atomic<bool> has_failed = false;
  const Status status = ForEach(kCount, 2, [&](std::size_t i) {
    if (i < 3) return Status::OK();
    // 3 fails, but only once another one has.
    while (i == 3 && !has_failed) SystemRuntime().Sleep(Duration(100));
    has_failed = true;
    return InvalidError("{} is wrong", i);
  });
  EXPECT_EQ(ErrorText(status), "3 is wrong");
  EXPECT_LE(called_.size(), 6U);
  EXPECT_EQ(called_.count(3), 1U);
}

TEST_F(ParallelTest, BehindAnErrorNoneIsBegun) {
  const Status status = ForEach(kCount, 1, [](std::size_t i) {
    return i == 5 ? InvalidError("no") : Status::OK();
  });
  EXPECT_EQ(ErrorText(status), "no");
  EXPECT_EQ(called_.size(), 6U);
}

}  // namespace
}  // namespace firn
