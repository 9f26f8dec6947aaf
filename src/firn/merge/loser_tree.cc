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
    const bool swaps =
        winner.code == loser.code ? SettleTie(winner, loser) : loser.code < winner.code;
    if (swaps) std::swap(winner, loser);
    winners[at] = winner;
    nodes_[at] = loser;
  }
  nodes_[0] = winners[1];
}

std::optional<std::size_t> LoserTree::Challenger() const {
  const Node* best = nullptr;
  for (std::size_t at = (nodes_[0].stream + heads_.size()) / 2; at > 0; at /= 2) {
    const Node& node = nodes_[at];
    if (node.code == kEndedCode) continue;
    if (best == nullptr || IsBelow(node, *best)) best = &node;
  }
  if (best == nullptr) return std::nullopt;
  return best->stream;
}

void LoserTree::MoveWinner(std::string_view key) {
  const std::string_view old_key = winner_key();
  const KeyCode moved = CodeAt(MismatchFrom(0, key, old_key), key, old_key);
  heads_[nodes_[0].stream] = key;
  if (moved == kEqualCode) return;
  for (std::size_t at = (nodes_[0].stream + heads_.size()) / 2; at > 0; at /= 2) {
    Node& loser = nodes_[at];
    // Losers are not below `key`: a code above its own stays as it is.
    if (loser.code != moved) continue;
    const std::string_view head = heads_[loser.stream];
    loser.code = CodeAt(MismatchFrom(0, head, key), head, key);
    ++key_comparisons_;
  }
}

/// True if `loser` is the smaller one after all. Whoever is the larger gets its code
/// relative to the other.
bool LoserTree::SettleTie(Node& candidate, Node& loser) {
  const bool swaps = loser.stream < candidate.stream;
  if (candidate.code == kEndedCode || candidate.code == kEqualCode) return swaps;
  ++key_comparisons_;
  const std::string_view a = heads_[candidate.stream];
  const std::string_view b = heads_[loser.stream];
  const std::size_t start = std::min({SharedBytes(candidate.code), a.size(), b.size()});
  const std::size_t mismatch = MismatchFrom(start, a, b);
  if (mismatch == a.size() && mismatch == b.size()) {
    (swaps ? candidate : loser).code = kEqualCode;
    return swaps;
  }
  if (IsBelowAt(mismatch, a, b)) {
    loser.code = CodeAt(mismatch, b, a);
    return false;
  }
  candidate.code = CodeAt(mismatch, a, b);
  return true;
}

bool LoserTree::IsBelow(const Node& a, const Node& b) const {
  if (a.code != b.code) return a.code < b.code;
  if (a.code == kEqualCode) return a.stream < b.stream;
  ++key_comparisons_;
  const int order = heads_[a.stream].compare(heads_[b.stream]);
  return order != 0 ? order < 0 : a.stream < b.stream;
}

}  // namespace firn::merge
