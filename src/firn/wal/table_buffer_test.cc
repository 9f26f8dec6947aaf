#include "firn/wal/table_buffer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/core/fake_runtime.h"
#include "firn/storage/faulty_store.h"
#include "firn/storage/memory_store.h"
#include "firn/wal/segment_rows_fixture.h"
#include "firn/wal/wal_reader.h"
#include "firn/wal/wal_root.h"

namespace firn::wal {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::HasSubstr;

std::vector<TestRow> Rows(int count) {
  std::vector<TestRow> rows;
  for (int i = 0; i < count; ++i) rows.push_back({"a", "name", i});
  return rows;
}

class TableBufferTest : public testing::Test {
 protected:
  void Open(TableBufferOptions options = {}) {
    options.shard.node = "n";
    buffer_ =
        TableBuffer::Make(runtime_, memory_, faulty_, TestLayout(), options).ValueOrDie();
  }

  /// Acknowledged as "<name> ok" or "<name> failed".
  Delivery Named(const std::string& name, Delivery delivery) {
    delivery.acknowledge = [this, name](const Result<SegmentName>& segment) {
      told_.push_back(name + (segment.ok() ? " ok" : " failed"));
    };
    return delivery;
  }

  Status Append(const std::string& name, std::optional<SourceRange> range, int rows) {
    Delivery delivery = {.rows = ToBatch(Rows(rows)), .range = std::move(range)};
    return buffer_->Append(Named(name, std::move(delivery)), StopToken());
  }

  /// "3 rows S[0,5) T[1,1)", one a segment, oldest first.
  std::vector<std::string> Segments() {
    WalReader reader(runtime_, store_);
    std::vector<std::string> texts;
    for (const auto& shard : ListShards(store_, TestLayout().uuid).ValueOrDie()) {
      for (const SegmentObject& object : shard.segments) {
        const auto segment =
            reader.ReadSegmentFooter(object.key, object.size_bytes).ValueOrDie();
        texts.push_back(Describe(*segment.footer));
      }
    }
    return texts;
  }

  static std::string Describe(const SegmentFooter& footer) {
    std::int64_t rows = 0;
    for (const auto& row_group : footer.row_groups) {
      for (const SegmentRun& run : row_group) rows += run.rows;
    }
    std::string text = fmt::format("{} rows", rows);
    for (const SourceRange& range : footer.ranges) {
      text += fmt::format(" {}[{},{})", range.source, range.first, range.next);
    }
    return text;
  }

  FakeRuntime runtime_;
  MemoryBudget memory_{runtime_, 1 << 20};
  storage::MemoryStore store_{runtime_};
  bool store_fails_ = false;
  storage::FaultyStore faulty_{runtime_, store_, [this](const storage::StoreCall&) {
                                 return store_fails_ ? storage::kFailBefore
                                                     : storage::kPass;
                               }};
  std::vector<std::string> told_;
  std::unique_ptr<TableBuffer> buffer_;  // tells those who still wait when it ends
};

TEST_F(TableBufferTest, ManyAppendsShareASegmentAndAreToldInOrder) {
  Open();
  ASSERT_TRUE(Append("one", SourceRange{"S", 0, 3}, 3).ok());
  ASSERT_TRUE(Append("two", std::nullopt, 2).ok());
  ASSERT_TRUE(Append("three", SourceRange{"S", 3, 10}, 1).ok());
  EXPECT_TRUE(told_.empty());
  ASSERT_TRUE(buffer_->Flush().ok());
  EXPECT_THAT(told_, testing::ElementsAre("one ok", "two ok", "three ok"));
  EXPECT_THAT(Segments(), testing::ElementsAre("6 rows S[0,10)"));
}

TEST_F(TableBufferTest, IsFlushedAtItsSize) {
  Open({.flush_bytes = 1000});
  ASSERT_TRUE(Append("one", std::nullopt, 10).ok());
  EXPECT_TRUE(told_.empty());
  ASSERT_TRUE(Append("two", std::nullopt, 90).ok());
  EXPECT_EQ(told_.front(), "one ok");
  EXPECT_GE(buffer_->counts().segments, 1);
  EXPECT_GT(buffer_->counts().rows, 10);
  EXPECT_GT(buffer_->counts().segment_bytes, 100);
}

TEST_F(TableBufferTest, WhatMayNotWaitIsRefusedWhileTheBufferIsFull) {
  Open({.flush_bytes = 1000});
  const auto try_append = [&](const std::string& name, int rows) {
    return buffer_->TryAppend(Named(name, {.rows = ToBatch(Rows(rows))}));
  };
  ASSERT_TRUE(try_append("one", 100).ok());
  EXPECT_TRUE(IsError(try_append("two", 1), ErrorKind::kUnavailable));
  EXPECT_THAT(told_, testing::ElementsAre("two failed"));
  ASSERT_TRUE(buffer_->FlushIfDue().ok());
  ASSERT_TRUE(try_append("three", 1).ok());
  ASSERT_TRUE(buffer_->Flush().ok());
  EXPECT_THAT(told_, testing::ElementsAre("two failed", "one ok", "three ok"));
  EXPECT_THAT(Segments(), testing::ElementsAre("100 rows", "1 rows"));
}

TEST_F(TableBufferTest, WhatMayNotWaitIsRefusedWithoutMemory) {
  Open();
  const auto taken = memory_.TryReserve(memory_.limit_bytes());
  const Status status = buffer_->TryAppend(Named("one", {.rows = ToBatch(Rows(1))}));
  EXPECT_TRUE(IsError(status, ErrorKind::kUnavailable)) << status;
  EXPECT_THAT(told_, testing::ElementsAre("one failed"));
  EXPECT_EQ(buffer_->DueAt(), std::nullopt);
}

TEST_F(TableBufferTest, WhatAFailedBufferRefusesMayBeSentAgain) {
  Open({.before_segment = [] {
    return MakeError(ErrorKind::kOutcomeUnknown, "no answer");
  }});
  ASSERT_TRUE(Append("one", std::nullopt, 1).ok());
  EXPECT_TRUE(IsError(buffer_->Flush(), ErrorKind::kOutcomeUnknown));
  const Status status = buffer_->TryAppend(Named("two", {.rows = ToBatch(Rows(1))}));
  EXPECT_TRUE(IsError(status, ErrorKind::kUnavailable)) << status;
}

TEST_F(TableBufferTest, IsDueAtTheAgeOfItsOldestRowOrAtOnceIfFull) {
  Open({.flush_bytes = 1000, .flush_age = seconds(1)});
  EXPECT_EQ(buffer_->DueAt(), std::nullopt);
  const BootTime begin = runtime_.SinceBoot();
  ASSERT_TRUE(buffer_->TryAppend({.rows = ToBatch(Rows(1))}).ok());
  runtime_.Advance(std::chrono::milliseconds(500));
  ASSERT_TRUE(buffer_->TryAppend({.rows = ToBatch(Rows(1))}).ok());
  EXPECT_EQ(buffer_->DueAt(), begin + seconds(1));
  ASSERT_TRUE(buffer_->TryAppend({.rows = ToBatch(Rows(100))}).ok());
  EXPECT_LE(buffer_->DueAt(), runtime_.SinceBoot());
}

TEST_F(TableBufferTest, WhatMustBeDurableBeforeIsAskedFirst) {
  Status outcome;
  int calls = 0;
  Open({.before_segment = [&] {
    EXPECT_TRUE(Segments().size() == static_cast<std::size_t>(calls));
    ++calls;
    return outcome;
  }});
  ASSERT_TRUE(Append("one", std::nullopt, 1).ok());
  EXPECT_EQ(calls, 0);
  ASSERT_TRUE(buffer_->Flush().ok());
  EXPECT_EQ(calls, 1);
  outcome = Status::IOError("no space");
  ASSERT_TRUE(Append("two", std::nullopt, 1).ok());
  EXPECT_THAT(ErrorText(buffer_->Flush()), HasSubstr("no space"));
  EXPECT_THAT(told_, testing::ElementsAre("one ok", "two failed"));
  EXPECT_EQ(Segments().size(), 1U);
}

TEST_F(TableBufferTest, ALargeDeliveryIsCutIntoSegmentsOfTheRightSize) {
  Open({.flush_bytes = 4000});
  ASSERT_TRUE(Append("large", SourceRange{"S", 5, 2000}, 1000).ok());
  ASSERT_TRUE(buffer_->Flush().ok());
  EXPECT_THAT(told_, testing::ElementsAre("large ok"));
  const std::vector<std::string> segments = Segments();
  EXPECT_GT(segments.size(), 3U);
  EXPECT_THAT(segments.front(), HasSubstr(" S[5,"));
  EXPECT_THAT(segments.back(), HasSubstr(",2000)"));
  EXPECT_EQ(buffer_->counts().rows, 1000);
}

TEST_F(TableBufferTest, ALargeDeliveryThatFailsIsToldOnce) {
  Open({.flush_bytes = 4000});
  store_fails_ = true;
  EXPECT_FALSE(Append("large", SourceRange{"S", 0, 1000}, 1000).ok());
  EXPECT_THAT(told_, testing::ElementsAre("large failed"));
}

TEST_F(TableBufferTest, IsFlushedAtTheAgeOfItsOldestRow) {
  Open();
  ASSERT_TRUE(Append("one", std::nullopt, 1).ok());
  runtime_.Advance(seconds(1) - Duration(1));
  ASSERT_TRUE(Append("two", std::nullopt, 1).ok());
  ASSERT_TRUE(buffer_->FlushIfDue().ok());
  EXPECT_TRUE(told_.empty());
  runtime_.Advance(Duration(1));
  ASSERT_TRUE(buffer_->FlushIfDue().ok());
  EXPECT_EQ(told_.size(), 2U);
}

TEST_F(TableBufferTest, RangesWithoutRowsGoIntoTheNextSegment) {
  Open();
  ASSERT_TRUE(Append("one", SourceRange{"S", 0, 3}, 0).ok());
  runtime_.Advance(minutes(1));
  ASSERT_TRUE(buffer_->FlushIfDue().ok());
  ASSERT_TRUE(buffer_->Flush().ok());
  EXPECT_TRUE(told_.empty());
  ASSERT_TRUE(Append("two", SourceRange{"S", 3, 4}, 1).ok());
  ASSERT_TRUE(buffer_->FlushIfDue().ok());
  EXPECT_TRUE(told_.empty());
  ASSERT_TRUE(buffer_->Flush().ok());
  EXPECT_THAT(Segments(), testing::ElementsAre("1 rows S[0,4)"));
  EXPECT_THAT(told_, testing::ElementsAre("one ok", "two ok"));
}

TEST_F(TableBufferTest, RangesWithoutRowsAreWrittenInTheEnd) {
  Open();
  ASSERT_TRUE(Append("one", SourceRange{"S", 0, 3}, 0).ok());
  runtime_.Advance(minutes(10));
  ASSERT_TRUE(buffer_->FlushIfDue().ok());
  EXPECT_THAT(Segments(), testing::ElementsAre("0 rows S[0,3)"));
  ASSERT_TRUE(Append("two", SourceRange{"S", 3, 5}, 0).ok());
  ASSERT_TRUE(buffer_->Close().ok());
  EXPECT_THAT(Segments(), testing::ElementsAre("0 rows S[0,3)", "0 rows S[3,5)"));
}

TEST_F(TableBufferTest, ARangeThatDoesNotContinueStartsAnotherSegment) {
  Open();
  ASSERT_TRUE(Append("one", SourceRange{"S", 0, 3}, 1).ok());
  ASSERT_TRUE(Append("two", SourceRange{"T", 9, 10}, 1).ok());
  ASSERT_TRUE(Append("again", SourceRange{"S", 1, 3}, 1).ok());
  ASSERT_TRUE(buffer_->Close().ok());
  EXPECT_THAT(Segments(), testing::ElementsAre("2 rows S[0,3) T[9,10)", "1 rows S[1,3)"));
}

TEST_F(TableBufferTest, CloseLeavesTheMarker) {
  Open();
  ASSERT_TRUE(Append("one", std::nullopt, 1).ok());
  ASSERT_TRUE(buffer_->Close().ok());
  EXPECT_TRUE(ListShards(store_, TestLayout().uuid).ValueOrDie()[0].closed);
  EXPECT_THAT(Append("two", std::nullopt, 1).message(), HasSubstr("closed"));
}

TEST_F(TableBufferTest, AFailureIsToldToAllAndEndsTheBuffer) {
  Open();
  ASSERT_TRUE(Append("one", std::nullopt, 1).ok());
  store_fails_ = true;
  const Status failed = buffer_->Flush();
  EXPECT_TRUE(IsError(failed, ErrorKind::kUnavailable));
  store_fails_ = false;
  EXPECT_EQ(Append("two", std::nullopt, 1), failed);
  EXPECT_EQ(buffer_->Close(), failed);
  EXPECT_THAT(told_, testing::ElementsAre("one failed", "two failed"));
  EXPECT_EQ(memory_.used_bytes(), 0);
}

TEST_F(TableBufferTest, WaitsForMemoryOnlyIfOthersHoldIt) {
  Open();
  ASSERT_TRUE(Append("one", std::nullopt, 9'000).ok());
  EXPECT_GT(memory_.used_bytes(), memory_.limit_bytes() / 2);
  ASSERT_TRUE(Append("two", std::nullopt, 9'000).ok());
  EXPECT_THAT(told_, testing::ElementsAre("one ok"));
  ASSERT_TRUE(buffer_->Flush().ok());
  EXPECT_EQ(memory_.used_bytes(), 0);
}

TEST_F(TableBufferTest, StopsWaitingForMemoryWhenAskedTo) {
  Open();
  const auto held = memory_.Reserve(memory_.limit_bytes(), StopToken()).ValueOrDie();
  StopSource stop;
  stop.RequestStop();
  const Status status = buffer_->Append({.rows = ToBatch(Rows(1))}, stop.token());
  EXPECT_TRUE(IsError(status, ErrorKind::kCancelled));
}

TEST_F(TableBufferTest, WhatIsRefusedIsToldOnce) {
  Open();
  const auto held = memory_.Reserve(memory_.limit_bytes(), StopToken()).ValueOrDie();
  StopSource stop;
  stop.RequestStop();
  Delivery stopped = {.rows = ToBatch(Rows(1))};
  EXPECT_FALSE(buffer_->Append(Named("stopped", std::move(stopped)), stop.token()).ok());
  EXPECT_FALSE(Append("too many", SourceRange{"S", 5, 6}, 2).ok());
  EXPECT_THAT(told_, testing::ElementsAre("stopped failed", "too many failed"));
}

TEST_F(TableBufferTest, WhatIsBufferedIsToldWhenTheBufferGoes) {
  Open();
  ASSERT_TRUE(Append("one", SourceRange{"S", 0, 2}, 2).ok());
  buffer_.reset();
  EXPECT_THAT(told_, testing::ElementsAre("one failed"));
  EXPECT_TRUE(Segments().empty());
}

TEST_F(TableBufferTest, RefusesWhatContradictsItself) {
  Open();
  const auto problem = [&](Delivery delivery) {
    return buffer_->Append(std::move(delivery), StopToken()).message();
  };
  const auto rows = ToBatch(Rows(2));
  const auto offsets = [](const std::vector<std::int64_t>& values) {
    arrow::Int64Builder builder;
    FIRN_CHECK(builder.AppendValues(values).ok());
    return std::static_pointer_cast<arrow::Int64Array>(builder.Finish().ValueOrDie());
  };
  const SourceRange range = {"S", 5, 9};
  EXPECT_THAT(problem({}), HasSubstr("neither rows nor a range"));
  EXPECT_THAT(problem({.range = SourceRange{"S", 5, 4}}), HasSubstr("ends before"));
  EXPECT_THAT(problem({.rows = rows, .range = SourceRange{"S", 5, 6}}),
              HasSubstr("2 rows do not fit in the range [5, 6)"));
  EXPECT_THAT(problem({.rows = rows, .range = range, .offsets = offsets({5})}),
              HasSubstr("1 offsets (0 null) for 2 rows"));
  EXPECT_THAT(problem({.rows = rows, .range = range, .offsets = offsets({5, 9})}),
              HasSubstr("offset 9 is outside of the range [5, 9)"));
  EXPECT_THAT(problem({.rows = rows, .offsets = offsets({5, 6})}),
              HasSubstr("offsets, but no range"));
  EXPECT_THAT(problem({.rows = rows->RemoveColumn(0).ValueOrDie()}),
              HasSubstr("2 columns"));
  ASSERT_TRUE(buffer_->Close().ok());
  EXPECT_TRUE(Segments().empty());
}

TEST_F(TableBufferTest, ManyThreadsShareABuffer) {
  Open({.flush_bytes = 2'000});
  std::atomic<int> acknowledged = 0;
  {
    std::vector<Thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back(runtime_, "source", [&, t] {
        for (std::int64_t i = 0; i < 50; ++i) {
          const Status status = buffer_->Append(
              {.rows = ToBatch(Rows(3)),
               .range = SourceRange{fmt::to_string(t), 3 * i, 3 * i + 3},
               .acknowledge =
                   [&](const Result<SegmentName>& s) { acknowledged += s.ok(); }},
              StopToken());
          EXPECT_TRUE(status.ok()) << status;
        }
      });
    }
  }
  ASSERT_TRUE(buffer_->Close().ok());
  EXPECT_EQ(acknowledged, 200);
  EXPECT_EQ(buffer_->counts().rows, 600);
  WalReader reader(runtime_, store_);
  const auto listing = reader.ListSegments(TestLayout().uuid, {}).ValueOrDie();
  const Admission admission = Admit({}, listing);
  EXPECT_EQ(admission.segments.size(), listing.size());
  for (const auto& [source, next] : admission.next.sources) EXPECT_EQ(next, 150);
}

}  // namespace
}  // namespace firn::wal
