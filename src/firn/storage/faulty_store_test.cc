#include "firn/storage/faulty_store.h"

#include <gtest/gtest.h>

#include "firn/core/fake_runtime.h"
#include "firn/storage/counting_store.h"
#include "firn/storage/memory_store.h"

namespace firn::storage {
namespace {

class FaultyStoreTest : public testing::Test {
 protected:
  FaultyStore Failing(FaultHook hook) {
    return FaultyStore(runtime_, memory_, std::move(hook));
  }
  bool Exists(std::string_view key) { return memory_.GetWhole(key).ok(); }

  FakeRuntime runtime_;
  MemoryStore memory_{runtime_};
};

TEST_F(FaultyStoreTest, FailsOnlyTheNthCallOfItsOperation) {
  FaultyStore store = Failing(FailNth(StoreOperation::kPutWhole, 2, kFailBefore));
  EXPECT_TRUE(store.PutWhole("a", "").ok());
  EXPECT_TRUE(store.GetWhole("a").ok());
  EXPECT_TRUE(store.GetWhole("a").ok());
  EXPECT_TRUE(IsError(store.PutWhole("b", ""), ErrorKind::kUnavailable));
  EXPECT_TRUE(store.PutWhole("c", "").ok());
  EXPECT_FALSE(Exists("b"));
}

TEST_F(FaultyStoreTest, AFullDiskIsOfNoKind) {
  FaultyStore store = Failing(FailNth(StoreOperation::kPutWhole, 1, kNoSpaceLeft));
  const Status status = store.PutWhole("a", "x");
  EXPECT_EQ(ErrorText(status), "cannot write a: No space left on device");
  EXPECT_FALSE(IsError(status, ErrorKind::kUnavailable));
  EXPECT_FALSE(Exists("a"));
}

TEST_F(FaultyStoreTest, AppliesAndLosesTheAnswer) {
  FaultyStore store = Failing(FailNth(StoreOperation::kPutWhole, 1, kApplyThenUnknown));
  EXPECT_TRUE(IsError(store.PutWhole("a", "x"), ErrorKind::kOutcomeUnknown));
  EXPECT_TRUE(Exists("a"));
}

TEST_F(FaultyStoreTest, LosesTheAnswerOfADelete) {
  ASSERT_TRUE(memory_.PutWhole("a", "x").ok());
  FaultyStore store = Failing(FailNth(StoreOperation::kDelete, 1, kApplyThenUnknown));
  EXPECT_TRUE(IsError(store.Delete("a"), ErrorKind::kOutcomeUnknown));
  EXPECT_FALSE(Exists("a"));
}

TEST_F(FaultyStoreTest, ARefusalStaysWhatItIs) {
  FaultyStore store = Failing(FailNth(StoreOperation::kPutWhole, 1, kApplyThenUnknown));
  ASSERT_TRUE(memory_.PutWhole("a", "x").ok());
  EXPECT_TRUE(
      IsError(store.PutWhole("a", "y", PutMode::kIfAbsent), ErrorKind::kAlreadyExists));
}

TEST_F(FaultyStoreTest, HookSeesEveryCall) {
  std::string seen;
  FaultyStore store = Failing([&](const StoreCall& call) {
    seen += fmt::format("{} {} {};", StoreOperationName(call.operation), call.number,
                        call.key);
    return Fault{.when = Fault::When::kBefore, .kind = ErrorKind::kNotFound};
  });
  EXPECT_FALSE(store.PutWhole("a", "").ok());
  EXPECT_TRUE(IsError(store.GetRange("b", 0, 1).status(), ErrorKind::kNotFound));
  EXPECT_FALSE(store.GetWhole("c").ok());
  EXPECT_FALSE(store.List("d/").ok());
  EXPECT_FALSE(store.Delete("e").ok());
  EXPECT_FALSE(store.Delete("f").ok());
  EXPECT_EQ(seen,
            "PutWhole 1 a;GetRange 1 b;GetWhole 1 c;List 1 d/;Delete 1 e;"
            "Delete 2 f;");
}

TEST_F(FaultyStoreTest, StrikesPiecesOneByOneAndTheirEndAsAPut) {
  FaultyStore pieces = Failing(FailNth(StoreOperation::kAppend, 2, kFailBefore));
  {
    const auto writer = pieces.PutInPieces("a").ValueOrDie();
    EXPECT_TRUE(writer->Append("1").ok());
    EXPECT_TRUE(IsError(writer->Append("2"), ErrorKind::kUnavailable));
  }
  EXPECT_FALSE(Exists("a"));
  FaultyStore end = Failing(FailNth(StoreOperation::kPutWhole, 1, kApplyThenUnknown));
  const auto writer = end.PutInPieces("a").ValueOrDie();
  EXPECT_TRUE(writer->Append("1").ok());
  EXPECT_TRUE(IsError(writer->Finish(), ErrorKind::kOutcomeUnknown));
  EXPECT_TRUE(Exists("a"));
}

TEST_F(FaultyStoreTest, PiecesCountAsOnePut) {
  FaultyStore faulty = Failing(FailNth(StoreOperation::kAppend, 3, kFailBefore));
  CountingStore store(faulty);
  const auto put = store.PutInPieces("a").ValueOrDie();
  EXPECT_TRUE(put->Append("12").ok());
  EXPECT_TRUE(put->Append("345").ok());
  EXPECT_EQ(store.counts(), RequestCounts{}) << "it has no end yet";
  EXPECT_TRUE(put->Finish().ok());
  EXPECT_EQ(store.counts(), (RequestCounts{.puts = 1, .put_bytes = 5}));
  EXPECT_FALSE(store.PutInPieces("b").ValueOrDie()->Append("12").ok());
  EXPECT_EQ(store.counts(), (RequestCounts{.puts = 2, .failures = 1, .put_bytes = 5}));
}

TEST_F(FaultyStoreTest, CountsSayWhatWentThrough) {
  FaultyStore faulty = Failing(FailNth(StoreOperation::kPutWhole, 2, kFailBefore));
  CountingStore store(faulty);
  EXPECT_TRUE(store.PutWhole("a", "12345").ok());
  EXPECT_FALSE(store.PutWhole("b", "12345").ok());
  EXPECT_TRUE(store.GetRange("a", 1, 2).ok());
  EXPECT_TRUE(store.GetWhole("a").ok());
  EXPECT_FALSE(store.GetWhole("x").ok());
  EXPECT_TRUE(store.List("").ok());
  EXPECT_TRUE(store.Delete("a").ok());
  EXPECT_EQ(store.counts(), (RequestCounts{.puts = 2,
                                           .gets = 3,
                                           .lists = 1,
                                           .deletes = 1,
                                           .failures = 2,
                                           .put_bytes = 5,
                                           .get_bytes = 7}));
}

}  // namespace
}  // namespace firn::storage
