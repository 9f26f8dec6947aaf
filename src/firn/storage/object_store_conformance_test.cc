// What every ObjectStore promises, tried on each of them.

#include <atomic>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/core/ulid.h"
#include "firn/storage/counting_store.h"
#include "firn/storage/faulty_store.h"
#include "firn/storage/local_store.h"
#include "firn/storage/memory_store.h"
#include "firn/storage/mounted_store.h"
#include "firn/storage/s3/s3_properties.h"
#include "firn/storage/s3/s3_store.h"
#include "firn/storage/temporary_directory.h"

namespace firn::storage {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A store and what it stands on.
class StoreUnderTest {
 public:
  virtual ~StoreUnderTest() = default;
  virtual ObjectStore& store() = 0;
  /// Empty if it can be tried.
  virtual std::string why_skipped() const { return ""; }
};

class Local : public StoreUnderTest {
 public:
  ObjectStore& store() override { return *store_; }

 private:
  const TemporaryDirectory directory_ = TemporaryDirectory::Make().ValueOrDie();
  const std::unique_ptr<LocalStore> store_ =
      LocalStore::Make(SystemRuntime(), directory_.path()).ValueOrDie();
};

class Memory : public StoreUnderTest {
 public:
  ObjectStore& store() override { return store_; }

 private:
  MemoryStore store_{SystemRuntime()};
};

class Counting : public StoreUnderTest {
 public:
  ObjectStore& store() override { return store_; }

 private:
  Local local_;
  CountingStore store_{local_.store()};
};

class Faulty : public StoreUnderTest {
 public:
  ObjectStore& store() override { return store_; }

 private:
  Memory memory_;
  FaultyStore store_{SystemRuntime(), memory_.store(),
                     [](const StoreCall&) { return kPass; }};
};

class Mounted : public StoreUnderTest {
 public:
  ObjectStore& store() override { return store_; }

 private:
  MountedStore store_{SystemRuntime(), std::make_shared<MemoryStore>(SystemRuntime())};
};

/// A server's, started by tests/interop: FIRN_TEST_S3_ENDPOINT says where, the bucket is
/// "lake", and AWS's variables hold the keys.
class S3 : public StoreUnderTest {
 public:
  S3() {
    if (!endpoint_) return;
    s3::S3StoreOptions options{.root = "lake/" + NewUlid(SystemRuntime())};
    // The least that S3 takes.
    options.part_bytes = 5 << 20;
    options.client.endpoint.url = *endpoint_;
    options.client.endpoint.addressing = s3::S3Endpoint::Addressing::kPath;
    store_ =
        s3::S3Store::Make(SystemRuntime(), *http_, *credentials_, options).ValueOrDie();
  }
  std::string why_skipped() const override {
    return endpoint_ ? "" : "FIRN_TEST_S3_ENDPOINT names no server";
  }
  ObjectStore& store() override { return endpoint_ ? *store_ : memory_.store(); }

 private:
  const s3::Environment environment_ = s3::ProcessEnvironment();
  const std::optional<std::string> endpoint_ = environment_("FIRN_TEST_S3_ENDPOINT");
  const std::unique_ptr<http::HttpClient> http_ =
      http::MakeHttpClient(SystemRuntime(), {}).ValueOrDie();
  const std::unique_ptr<s3::CredentialsProvider> credentials_ =
      s3::MakeCredentials({}, {}, environment_, SystemRuntime(), *http_);
  Memory memory_;
  std::unique_ptr<s3::S3Store> store_;
};

template <typename T>
std::unique_ptr<StoreUnderTest> MakeStore() {
  return std::make_unique<T>();
}

struct NamedStore {
  const char* name;
  std::unique_ptr<StoreUnderTest> (*make)();
};

class ObjectStoreTest : public testing::TestWithParam<NamedStore> {
 protected:
  void SetUp() override {
    if (!under_test_->why_skipped().empty()) GTEST_SKIP() << under_test_->why_skipped();
  }
  Status Put(std::string_view key, std::string_view bytes) {
    return store_.PutWhole(key, bytes);
  }
  Status PutIfAbsent(std::string_view key, std::string_view bytes) {
    return store_.PutWhole(key, bytes, PutMode::kIfAbsent);
  }
  std::string Get(std::string_view key) { return store_.GetWhole(key).ValueOrDie(); }
  std::vector<std::string> Keys(std::string_view prefix) {
    std::vector<std::string> keys;
    for (const ObjectInfo& object : store_.List(prefix).ValueOrDie()) {
      keys.push_back(object.key);
    }
    return keys;
  }
  void PutAll(std::initializer_list<std::string_view> keys) {
    for (std::string_view key : keys) ASSERT_TRUE(Put(key, key).ok()) << key;
  }

  const std::unique_ptr<StoreUnderTest> under_test_ = GetParam().make();
  ObjectStore& store_ = under_test_->store();
};

INSTANTIATE_TEST_SUITE_P(Stores, ObjectStoreTest,
                         testing::Values(NamedStore{"local", MakeStore<Local>},
                                         NamedStore{"memory", MakeStore<Memory>},
                                         NamedStore{"counting", MakeStore<Counting>},
                                         NamedStore{"faulty", MakeStore<Faulty>},
                                         NamedStore{"mounted", MakeStore<Mounted>},
                                         NamedStore{"s3", MakeStore<S3>}),
                         [](const auto& info) { return info.param.name; });

TEST_P(ObjectStoreTest, GivesBackWhatWasPut) {
  const std::string bytes("a\0\xff\n", 4);
  ASSERT_TRUE(Put("folder/sub folder/50%+ü#?", bytes).ok());
  EXPECT_EQ(Get("folder/sub folder/50%+ü#?"), bytes);
}

TEST_P(ObjectStoreTest, PiecesAreThereOnceFinished) {
  const auto writer = store_.PutInPieces("folder/a").ValueOrDie();
  ASSERT_TRUE(writer->Append("one ").ok());
  ASSERT_TRUE(writer->Append("").ok());
  ASSERT_TRUE(writer->Append("two").ok());
  EXPECT_THAT(Keys(""), IsEmpty());
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_EQ(Get("folder/a"), "one two");
}

TEST_P(ObjectStoreTest, PiecesMakeALargeObject) {
  const auto writer = store_.PutInPieces("a", PutMode::kIfAbsent).ValueOrDie();
  std::string whole;
  for (char letter = 'a'; letter < 'm'; ++letter) {
    const std::string piece(1 << 20, letter);
    ASSERT_TRUE(writer->Append(piece).ok());
    whole += piece;
  }
  EXPECT_THAT(Keys(""), IsEmpty());
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_TRUE(Get("a") == whole);
}

TEST_P(ObjectStoreTest, UnfinishedPiecesLeaveNothing) {
  const std::string piece(1 << 20, 'x');
  for (const int pieces : {1, 7}) {
    const auto writer = store_.PutInPieces("a").ValueOrDie();
    for (int i = 0; i < pieces; ++i) ASSERT_TRUE(writer->Append(piece).ok());
  }
  EXPECT_THAT(Keys(""), IsEmpty());
}

TEST_P(ObjectStoreTest, PiecesIfAbsentKeepWhatIsThere) {
  ASSERT_TRUE(Put("a", "first").ok());
  const auto writer = store_.PutInPieces("a", PutMode::kIfAbsent).ValueOrDie();
  ASSERT_TRUE(writer->Append("second").ok());
  EXPECT_TRUE(IsError(writer->Finish(), ErrorKind::kAlreadyExists));
  EXPECT_EQ(Get("a"), "first");
}

TEST_P(ObjectStoreTest, PiecesOfABadKeyAreRefused) {
  EXPECT_FALSE(store_.PutInPieces("../a").ok());
}

TEST_P(ObjectStoreTest, OverwriteReplacesTheWhole) {
  ASSERT_TRUE(Put("a", "long text").ok());
  ASSERT_TRUE(Put("a", "short").ok());
  EXPECT_EQ(Get("a"), "short");
}

TEST_P(ObjectStoreTest, IfAbsentKeepsWhatIsThere) {
  ASSERT_TRUE(PutIfAbsent("a", "first").ok());
  EXPECT_TRUE(IsError(PutIfAbsent("a", "second"), ErrorKind::kAlreadyExists));
  EXPECT_EQ(Get("a"), "first");
  EXPECT_THAT(Keys(""), ElementsAre("a"));
}

TEST_P(ObjectStoreTest, OneOfManyWinsTheName) {
  constexpr int kWriters = 8;
  constexpr int kRounds = 20;
  for (int round = 0; round < kRounds; ++round) {
    const std::string key = fmt::format("round/{}/name", round);
    std::atomic<int> winner = -1;
    std::atomic<int> losers = 0;
    {
      std::vector<Thread> writers;
      for (int i = 0; i < kWriters; ++i) {
        writers.emplace_back(SystemRuntime(), "writer", [&, i] {
          const Status status = PutIfAbsent(key, std::to_string(i));
          if (status.ok()) {
            EXPECT_EQ(winner.exchange(i), -1) << "two writers won";
          } else if (IsError(status, ErrorKind::kAlreadyExists)) {
            ++losers;
          }
        });
      }
    }
    EXPECT_EQ(losers, kWriters - 1);
    EXPECT_EQ(Get(key), std::to_string(winner));
  }
}

TEST_P(ObjectStoreTest, ReadersSeeOneWholeObjectWhileItIsReplaced) {
  constexpr int kReplacements = 50;
  constexpr std::size_t kSizeBytes = 300'000;
  ASSERT_TRUE(Put("a", std::string(kSizeBytes, 'a')).ok());
  std::atomic<bool> done = false;
  Thread reader(SystemRuntime(), "reader", [&] {
    while (!done) {
      const std::string bytes = Get("a");
      EXPECT_EQ(bytes, std::string(kSizeBytes, bytes.at(0)));
    }
  });
  for (int i = 0; i < kReplacements; ++i) {
    EXPECT_TRUE(Put("a", std::string(kSizeBytes, static_cast<char>('a' + i % 26))).ok());
  }
  done = true;
}

TEST_P(ObjectStoreTest, RangesAreExact) {
  ASSERT_TRUE(Put("a", "0123456789").ok());
  const auto range = [&](std::int64_t offset, std::int64_t length) {
    return store_.GetRange("a", offset, length).ValueOrDie();
  };
  EXPECT_EQ(range(0, 10), "0123456789");
  EXPECT_EQ(range(3, 4), "3456");
  EXPECT_EQ(range(9, 1), "9");
  EXPECT_EQ(range(10, 0), "");
}

TEST_P(ObjectStoreTest, RangeBehindTheEndIsCorruption) {
  ASSERT_TRUE(Put("a", "0123456789").ok());
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  const std::vector<std::pair<std::int64_t, std::int64_t>> ranges = {
      {0, 11}, {10, 1}, {11, 0}, {5, kMax}, {kMax, kMax}};
  for (const auto& [offset, length] : ranges) {
    const Status status = store_.GetRange("a", offset, length).status();
    EXPECT_TRUE(IsError(status, ErrorKind::kCorruption)) << offset << "+" << length;
    EXPECT_THAT(ErrorText(status), HasSubstr("'a'"));
  }
}

TEST_P(ObjectStoreTest, NegativeRangeIsInvalid) {
  ASSERT_TRUE(Put("a", "0123456789").ok());
  EXPECT_TRUE(store_.GetRange("a", -1, 2).status().IsInvalid());
  EXPECT_TRUE(store_.GetRange("a", 1, -1).status().IsInvalid());
}

TEST_P(ObjectStoreTest, AnEmptyObjectIsAnObject) {
  ASSERT_TRUE(Put("a/empty", "").ok());
  EXPECT_EQ(Get("a/empty"), "");
  EXPECT_EQ(store_.GetRange("a/empty", 0, 0).ValueOrDie(), "");
  EXPECT_EQ(store_.List("").ValueOrDie().at(0).size_bytes, 0);
  EXPECT_TRUE(IsError(PutIfAbsent("a/empty", ""), ErrorKind::kAlreadyExists));
}

TEST_P(ObjectStoreTest, ABigObjectIsWhole) {
  std::string bytes(20 << 20, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<char>(i * 31 >> 3);
  ASSERT_TRUE(Put("big", bytes).ok());
  EXPECT_TRUE(Get("big") == bytes);
  EXPECT_EQ(store_.GetRange("big", 12'345'678, 9).ValueOrDie(),
            bytes.substr(12'345'678, 9));
}

TEST_P(ObjectStoreTest, WhatIsNotThereIsNotFound) {
  ASSERT_TRUE(Put("folder/a", "").ok());
  for (const char* key : {"x", "folder", "folder/x", "x/y"}) {
    EXPECT_TRUE(IsError(store_.GetWhole(key).status(), ErrorKind::kNotFound)) << key;
    EXPECT_TRUE(IsError(store_.GetRange(key, 0, 0).status(), ErrorKind::kNotFound))
        << key;
  }
}

TEST_P(ObjectStoreTest, NothingIsBelowAnObject) {
  ASSERT_TRUE(Put("folder/a", "").ok());
  EXPECT_TRUE(IsError(store_.GetWhole("folder/a/b").status(), ErrorKind::kNotFound));
}

TEST_P(ObjectStoreTest, ListsInByteOrder) {
  PutAll({"b", "a/z", "ab", "a/\xc3\xbc", "a.b", "a/b.c", "a-", "a0/x"});
  EXPECT_THAT(Keys(""),
              ElementsAre("a-", "a.b", "a/b.c", "a/z", "a/\xc3\xbc", "a0/x", "ab", "b"));
}

TEST_P(ObjectStoreTest, PrefixIsTextNotAFolder) {
  PutAll({"a/1", "ab/1", "ab/2", "abc", "b/ab"});
  EXPECT_THAT(Keys("a"), ElementsAre("a/1", "ab/1", "ab/2", "abc"));
  EXPECT_THAT(Keys("ab"), ElementsAre("ab/1", "ab/2", "abc"));
  EXPECT_THAT(Keys("ab/"), ElementsAre("ab/1", "ab/2"));
  EXPECT_THAT(Keys("ab/2"), ElementsAre("ab/2"));
  EXPECT_THAT(Keys("ab/2/"), ElementsAre());
  EXPECT_THAT(Keys("x/y"), ElementsAre());
}

TEST_P(ObjectStoreTest, ListsSizes) {
  ASSERT_TRUE(Put("a", "12345").ok());
  const std::vector<ObjectInfo> listed = store_.List("a").ValueOrDie();
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_EQ(listed[0].size_bytes, 5);
  EXPECT_GT(listed[0].modified_us, 1'600'000'000'000'000);
}

TEST_P(ObjectStoreTest, DeletedIsGoneAndMayBeDeletedAgain) {
  PutAll({"a/1", "a/2"});
  EXPECT_TRUE(store_.Delete("a/1").ok());
  EXPECT_TRUE(store_.Delete("a/1").ok());
  EXPECT_TRUE(store_.Delete("never/was").ok());
  EXPECT_TRUE(store_.Delete("a").ok()) << "a folder is no object";
  EXPECT_THAT(Keys(""), ElementsAre("a/2"));
  EXPECT_TRUE(PutIfAbsent("a/1", "again").ok());
}

TEST_P(ObjectStoreTest, RefusesWhatIsNoKey) {
  const std::vector<std::string> keys = {"",
                                         "/a",
                                         "a/",
                                         "a//b",
                                         ".",
                                         "..",
                                         "../a",
                                         "a/../b",
                                         "a/./b",
                                         "a/..",
                                         ".firn-x",
                                         "a/.firn-put-1",
                                         std::string("a\0b", 3)};
  for (const std::string& key : keys) {
    EXPECT_TRUE(Put(key, "").IsInvalid()) << key;
    EXPECT_TRUE(store_.GetWhole(key).status().IsInvalid()) << key;
    EXPECT_TRUE(store_.GetRange(key, 0, 0).status().IsInvalid()) << key;
    EXPECT_TRUE(store_.Delete(key).IsInvalid()) << key;
  }
  EXPECT_THAT(Keys(""), ElementsAre());
}

TEST_P(ObjectStoreTest, TakesKeysThatOnlyLookOdd) {
  PutAll({"...", ".hidden", "a.", "..b", "c/-", " "});
  EXPECT_EQ(Keys("").size(), 6u);
}

TEST_P(ObjectStoreTest, RefusesPrefixesThatLeaveTheStore) {
  for (const char* prefix : {"/", "/a", "../", "a/../b", "a//b"}) {
    EXPECT_TRUE(store_.List(prefix).status().IsInvalid()) << prefix;
  }
}

TEST_P(ObjectStoreTest, LocationIsTheRootsAndTheKey) {
  const std::string root = store_.Location("");
  EXPECT_THAT(store_.Location("a/b"), testing::StartsWith(root));
  EXPECT_THAT(store_.Location("a/b"), testing::EndsWith("/a/b"));
}

}  // namespace
}  // namespace firn::storage
