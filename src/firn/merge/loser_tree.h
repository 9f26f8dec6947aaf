#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "firn/merge/key_code.h"

namespace firn::merge {

/// Tells which of K streams has the smallest head; of equal ones, the first stream.
///
/// A tournament whose inner nodes remember who lost there (Knuth, TAOCP 3, 5.4.1). When
/// the winner's stream moves on, its next head plays only against the losers between its
/// leaf and the root: ceil(log2 K) matches.
///
///            [0: winner]
///                 1             node n has children 2n and 2n+1
///             /       \         the leaf of stream s is node K+s
///            2         3
///          /   \     /   \      K = 4
///         s0   s1   s2   s3
///
/// A match compares offset-value codes (key_code.h), and key bytes only if those are
/// equal. They are relative to one base: whoever lost on the winner's path lost to the
/// winner. Keys are views that live until their stream moves on. Not thread-safe.
class LoserTree {
 public:
  /// The first head of each stream.
  explicit LoserTree(std::vector<std::string_view> heads);

  /// True when all streams have ended.
  bool empty() const { return nodes_[0].code == kEndedCode; }
  /// REQUIRES for all below: not empty.
  std::size_t winner() const { return nodes_[0].stream; }
  std::string_view winner_key() const { return heads_[nodes_[0].stream]; }
  std::string_view head(std::size_t stream) const { return heads_[stream]; }

  /// The stream that would win if the winner's ended; nothing if it is the last one.
  std::optional<std::size_t> Challenger() const;

  /// The smallest code that another head has relative to winner_key(). As long as the
  /// codes of the winner's next heads, each relative to the head before it, are below it
  /// or kEqualCode, these heads win too, and need not be shown to the tree.
  KeyCode ChallengerCode() const {
    KeyCode code = kEndedCode;
    for (std::size_t at = FirstMatch(nodes_[0].stream); at > 0; at /= 2) {
      code = std::min(code, nodes_[at].code);
    }
    return code;
  }

  /// The winner's stream moves on to `key`, whose code relative to the head before it is
  /// `code`. REQUIRES: `key` is not below winner_key(); of the heads between the two, if
  /// any, ChallengerCode() said that they win.
  void Advance(std::string_view key, KeyCode code) {
    const std::uint32_t stream = nodes_[0].stream;
    heads_[stream] = key;
    Replay({.code = code, .stream = stream});
  }

  /// The winner's stream has ended.
  void EndWinner() { Replay({.code = kEndedCode, .stream = nodes_[0].stream}); }

  /// Matches that had to look at key bytes.
  std::int64_t key_comparisons() const { return key_comparisons_; }

 private:
  struct Node {
    KeyCode code = kEndedCode;
    std::uint32_t stream = 0;
  };

  std::size_t FirstMatch(std::uint32_t stream) const {
    return (stream + heads_.size()) / 2;
  }

  void Replay(Node candidate) {
    for (std::size_t at = FirstMatch(candidate.stream); at > 0; at /= 2) {
      Node& loser = nodes_[at];
      if (loser.code == candidate.code) [[unlikely]] {
        candidate = SettleTie(candidate, loser);
        continue;
      }
      // Who wins cannot be foretold: both nodes are chosen without a branch.
      const Node other = loser;
      const bool swaps = other.code < candidate.code;
      loser.code = swaps ? candidate.code : other.code;
      loser.stream = swaps ? candidate.stream : other.stream;
      candidate.code = swaps ? other.code : candidate.code;
      candidate.stream = swaps ? other.stream : candidate.stream;
    }
    nodes_[0] = candidate;
  }

  Node SettleTie(Node candidate, Node& loser);
  bool IsBelow(const Node& a, const Node& b) const;

  std::vector<std::string_view> heads_;
  /// The winner, then the losers of the inner nodes.
  std::vector<Node> nodes_;
  std::int64_t key_comparisons_ = 0;
};

}  // namespace firn::merge
