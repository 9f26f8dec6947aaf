#include "firn/iceberg/metadata/shared_list.h"

#include <algorithm>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace firn::iceberg {
namespace {

using testing::ElementsAre;
using List = SharedList<int>;
constexpr int kBlock = List::kBlockItems;

List UpTo(int count) {
  List list;
  for (int i = 0; i < count; ++i) list.push_back(i);
  return list;
}

std::vector<int> Items(const List& list) { return {list.begin(), list.end()}; }

TEST(SharedListTest, HoldsWhatWasPushedOverTheBordersOfBlocks) {
  for (const int count : {0, 1, kBlock - 1, kBlock, kBlock + 1, 3 * kBlock}) {
    List list = UpTo(count);
    EXPECT_EQ(list.size(), static_cast<std::size_t>(count));
    EXPECT_EQ(list.empty(), count == 0);
    EXPECT_EQ(std::ranges::distance(list), count);
    for (int i = 0; i < count; ++i) EXPECT_EQ(list[i], i);
    while (!list.empty()) {
      EXPECT_EQ(list.back() + 1, static_cast<int>(list.size()));
      list.pop_back();
    }
  }
}

TEST(SharedListTest, CopiesShareItemsAndChangeForThemselves) {
  List list = UpTo(2 * kBlock);
  List copy = list;
  EXPECT_EQ(&copy[5], &list[5]);
  copy.Change(5, [](int& item) { item = -5; });
  copy.push_back(7);
  copy.pop_back();
  copy.pop_back();
  EXPECT_EQ(list, UpTo(2 * kBlock));
  EXPECT_EQ(copy[5], -5);
  EXPECT_EQ(copy.size(), list.size() - 1);
  EXPECT_EQ(&copy[kBlock], &list[kBlock]);
}

TEST(SharedListTest, LosesTheJsonOfWhatChanges) {
  List list;
  list.push_back(1, "one");
  list.push_back(2, "two");
  list.Change(0, [](int& item) { item = 3; });
  EXPECT_EQ(list.At(0)->json, "");
  EXPECT_EQ(list.At(1)->json, "two");
  EXPECT_EQ(list, (List{3, 2}));
  EXPECT_FALSE(list == (List{3, 1}));
}

TEST(SharedListTest, ErasesByPredicate) {
  List list = UpTo(kBlock + 2);
  list.EraseIf([](int item) { return item > 2 && item <= kBlock; });
  EXPECT_THAT(Items(list), ElementsAre(0, 1, 2, kBlock + 1));
}

}  // namespace
}  // namespace firn::iceberg
