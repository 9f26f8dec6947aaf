#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "firn/iceberg/catalog/catalog.h"
#include "network.h"

namespace firn::sim {

/// A catalog as one node sees it, over the network.
class NodeCatalog : public iceberg::Catalog {
 public:
  /// Deletes what a commit with these updates would have added.
  using CleanUp = std::function<void(const std::vector<iceberg::TableUpdate>&)>;

  /// All must outlive it. `clean_up` is called only while the rule is broken that it must
  /// not be.
  NodeCatalog(SimNode& node, Network& network, iceberg::Catalog& inner, CleanUp clean_up)
      : node_(node), network_(network), inner_(inner), clean_up_(std::move(clean_up)) {}

  Result<iceberg::LoadedTable> LoadTable(const iceberg::TableIdentifier& table) override;
  Result<iceberg::LoadedTable> CreateTable(const iceberg::TableIdentifier& table,
                                           iceberg::TableCreation creation) override;
  Result<iceberg::LoadedTable> CommitTable(
      const iceberg::TableIdentifier& table,
      const std::vector<iceberg::TableRequirement>& requirements,
      const std::vector<iceberg::TableUpdate>& updates) override;
  Status DropTable(const iceberg::TableIdentifier& table) override;
  Result<std::vector<iceberg::TableIdentifier>> ListTables(
      std::string_view namespace_name) override;
  Result<std::vector<std::string>> ListNamespaces() override;
  Status CreateNamespace(std::string_view namespace_name) override;

 private:
  SimNode& node_;
  Network& network_;
  iceberg::Catalog& inner_;
  const CleanUp clean_up_;
};

}  // namespace firn::sim
