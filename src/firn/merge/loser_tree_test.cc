#include "firn/merge/loser_tree.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "firn/merge/fake_input.h"

namespace firn::merge {
namespace {

using Streams = std::vector<std::vector<std::string>>;

KeyCode Code(std::string_view key, std::string_view base) {
  return CodeAt(MismatchFrom(0, key, base), key, base);
}

std::vector<std::string_view> Heads(const Streams& streams) {
  std::vector<std::string_view> heads;
  for (const auto& stream : streams) heads.push_back(stream.front());
  return heads;
}

/// The winners in order, as "<key><stream> ...".
std::string Drain(const Streams& streams) {
  LoserTree tree(Heads(streams));
  std::vector<std::size_t> rows(streams.size());
  std::string out;
  while (!tree.empty()) {
    const std::size_t winner = tree.winner();
    out += fmt::format("{}{} ", tree.winner_key(), winner);
    if (++rows[winner] == streams[winner].size()) {
      tree.EndWinner();
    } else {
      const std::string& key = streams[winner][rows[winner]];
      tree.Advance(key, Code(key, tree.winner_key()));
    }
  }
  return out;
}

TEST(LoserTreeTest, NoStreamsIsEmpty) { EXPECT_TRUE(LoserTree({}).empty()); }

TEST(LoserTreeTest, OneStreamWinsAlone) {
  EXPECT_EQ(Drain({{"a", "b"}}), "a0 b0 ");
  EXPECT_EQ(LoserTree({"a"}).Challenger(), std::nullopt);
}

TEST(LoserTreeTest, SmallestHeadWinsAndTiesGoToTheFirstStream) {
  EXPECT_EQ(Drain({{"b", "c"}, {"a", "c"}, {"b"}}), "a1 b0 b2 c0 c1 ");
}

TEST(LoserTreeTest, ChallengerIsTheSecondSmallest) {
  LoserTree tree({"d", "a", "c", "b", "b"});
  EXPECT_EQ(tree.winner(), 1);
  EXPECT_EQ(tree.Challenger(), 3);
  tree.EndWinner();
  EXPECT_EQ(tree.Challenger(), 4);
}

TEST(LoserTreeTest, HeadsBelowTheChallengersCodeNeedNoMatch) {
  LoserTree tree({"prefix/aaa", "prefix/bbb", "prefix/ccc"});
  EXPECT_LT(Code("prefix/abb", "prefix/aaa"), tree.ChallengerCode());
  EXPECT_GT(Code("prefix/cbb", "prefix/abb"), tree.ChallengerCode());
  tree.Advance("prefix/cbb", Code("prefix/cbb", "prefix/abb"));
  EXPECT_EQ(tree.winner_key(), "prefix/bbb");
  tree.EndWinner();
  EXPECT_EQ(tree.winner_key(), "prefix/cbb");
}

}  // namespace
}  // namespace firn::merge
