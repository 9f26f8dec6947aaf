#include "firn/merge/loser_tree.h"

namespace firn::merge {

LoserTree::LoserTree(std::vector<std::string_view> heads)
    : heads_(std::move(heads)), nodes_(std::max<std::size_t>(heads_.size(), 1)) {
  const std::size_t streams = heads_.size();
  if (streams == 0) return;
  // Winners of all nodes, leaves included; the first base is below every key.
  std::vector<Node> winners(2 * streams);
  for (std::size_t stream = 0; stream < streams; ++stream) {
    winners[streams + stream] = {.code = CodeOfWord(heads_[stream], 0),
                                 .stream = static_cast<std::uint32_t>(stream)};
  }
  for (std::size_t at = streams - 1; at > 0; --at) {
    Node winner = winners[2 * at];
    Node loser = winners[2 * at + 1];
    if (winner.code == loser.code) {
      winner = SettleTie(winner, loser);
    } else if (loser.code < winner.code) {
      std::swap(winner, loser);
    }
    winners[at] = winner;
    nodes_[at] = loser;
  }
  nodes_[0] = winners[1];
}

std::optional<std::size_t> LoserTree::Challenger() const {
  const Node* best = nullptr;
  for (std::size_t at = FirstMatch(nodes_[0].stream); at > 0; at /= 2) {
    const Node& node = nodes_[at];
    if (node.code == kEndedCode) continue;
    if (best == nullptr || IsBelow(node, *best)) best = &node;
  }
  if (best == nullptr) return std::nullopt;
  return best->stream;
}

/// A match between equal codes: returns who wins, and leaves in `loser` who loses, with a
/// code relative to the winner.
LoserTree::Node LoserTree::SettleTie(Node candidate, Node& loser) {
  Node first = candidate;
  Node second = loser;
  if (second.stream < first.stream) std::swap(first, second);
  if (first.code != kEndedCode && first.code != kEqualCode) {
    ++key_comparisons_;
    const std::string_view a = heads_[first.stream];
    const std::string_view b = heads_[second.stream];
    const std::size_t shared = std::min({SharedBytes(first.code), a.size(), b.size()});
    const std::size_t mismatch = MismatchFrom(shared, a, b);
    if (IsBelowAt(mismatch, b, a)) {
      first.code = CodeAt(mismatch, a, b);
      std::swap(first, second);
    } else {
      second.code = CodeAt(mismatch, b, a);
    }
  }
  loser = second;
  return first;
}

bool LoserTree::IsBelow(const Node& a, const Node& b) const {
  if (a.code != b.code) return a.code < b.code;
  const int order = heads_[a.stream].compare(heads_[b.stream]);
  return order != 0 ? order < 0 : a.stream < b.stream;
}

}  // namespace firn::merge
