#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "firn/iceberg/catalog/catalog.h"
#include "network.h"

namespace firn::sim {

/// A catalog as one node sees it, over the network.
class NodeCatalog : public iceberg::Catalog {
 public:
  /// All must outlive it.
  NodeCatalog(SimNode& node, Network& network, iceberg::Catalog& inner)
      : node_(node), network_(network), inner_(inner) {}

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
};

}  // namespace firn::sim
