#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "firn/storage/object_store.h"
#include "network.h"

namespace firn::sim {

/// A store as one node sees it, over the network.
class NodeStore : public storage::ObjectStore {
 public:
  /// All must outlive it.
  NodeStore(SimNode& node, Network& network, storage::ObjectStore& inner)
      : node_(node), network_(network), inner_(inner) {}

  Status PutWhole(std::string_view key, std::string_view bytes,
                  storage::PutMode mode = storage::PutMode::kOverwrite) override;
  Result<std::string> GetRange(std::string_view key, std::int64_t offset,
                               std::int64_t length) override;
  Result<std::string> GetWhole(std::string_view key) override;
  Result<std::vector<storage::ObjectInfo>> List(std::string_view prefix) override;
  Status Delete(std::string_view key) override;
  std::string Location(std::string_view key) const override;

 private:
  /// What a first attempt would send of a writer that puts a segment together anew for
  /// each attempt: here, what its segment before held.
  std::string OtherBytesOfSegment(std::string_view key, std::string_view bytes);

  SimNode& node_;
  Network& network_;
  storage::ObjectStore& inner_;
  std::string last_segment_;
};

}  // namespace firn::sim
