#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "firn/core/sim_runtime.h"

namespace firn::sim {

/// What lies between nodes and what they share: each call takes its time, and the node
/// may be gone before its request leaves, or before the answer arrives.
class Network {
 public:
  /// Longest time that a request or an answer is under way.
  explicit Network(Duration latency_max) : latency_max_(latency_max) {}

  /// Carries out a call of `node`. What a node that has crashed asks for is not done, and
  /// answers to it are lost: it gets an error of no kind.
  template <typename Outcome>
  Outcome Call(SimNode& node, const std::function<Outcome()>& apply) {
    if (!Travel(node)) return Gone(node);
    Outcome outcome = apply();
    if (!Travel(node)) return Gone(node);
    return outcome;
  }

 private:
  /// False if the node is gone.
  bool Travel(SimNode& node) const;
  static Status Gone(const SimNode& node);

  const Duration latency_max_;
};

}  // namespace firn::sim
