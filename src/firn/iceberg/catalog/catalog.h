#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "firn/core/status.h"
#include "firn/iceberg/metadata/table_metadata.h"
#include "firn/iceberg/update/new_table.h"
#include "firn/iceberg/update/requirement.h"
#include "firn/iceberg/update/table_update.h"

namespace firn::iceberg {

struct TableIdentifier {
  /// Levels joined by dots: "a.b".
  std::string namespace_name;
  std::string name;

  auto operator<=>(const TableIdentifier&) const = default;
};

/// "demo.flights". What stands before the last dot is the namespace.
std::string ToString(const TableIdentifier& identifier);

/// Invalid, naming `text`, unless it is at least two non-empty parts joined by dots, none
/// with a slash, backslash or control character.
Result<TableIdentifier> ParseTableIdentifier(std::string_view text);

/// As above for a namespace: one part or more.
Status CheckNamespace(std::string_view namespace_name);

/// "a.b.c": "a", "a.b" and "a.b.c". A namespace that is there has all its parents.
std::vector<std::string> NamespaceAndParents(std::string_view namespace_name);

/// Where PyIceberg puts a table, too: "<warehouse>/<namespace>/<table>".
std::string DefaultTableLocation(std::string_view warehouse,
                                 const TableIdentifier& identifier);

struct LoadedTable {
  TableMetadata metadata;
  std::string metadata_location;

  bool operator==(const LoadedTable&) const = default;
};

/// Where tables are found by name, and where a commit is decided.
///
/// Errors: NotFound (table or namespace), AlreadyExists, Conflict (a requirement does not
/// hold, or another commit was faster: nothing was applied), OutcomeUnknown (a commit may
/// or may not have been applied), Unavailable (nothing was applied, try later),
/// Corruption (a metadata file). Thread-safe.
class Catalog {
 public:
  virtual ~Catalog() = default;

  virtual Result<LoadedTable> LoadTable(const TableIdentifier& identifier) = 0;

  /// NotFound if the namespace is not there; Invalid for a name that ParseTableIdentifier
  /// would refuse. The ids in what comes back are the table's
  /// (see NewTableMetadata).
  virtual Result<LoadedTable> CreateTable(const TableIdentifier& identifier,
                                          TableCreation creation) = 0;

  /// Applies all of `updates` in one step if `requirements` hold; gives the table as it
  /// is after this commit. Durable once it returns OK.
  virtual Result<LoadedTable> CommitTable(
      const TableIdentifier& identifier,
      const std::vector<TableRequirement>& requirements,
      const std::vector<TableUpdate>& updates) = 0;

  /// Forgets the table; its files stay.
  virtual Status DropTable(const TableIdentifier& identifier) = 0;

  /// In order of name. NotFound if the namespace is not there.
  virtual Result<std::vector<TableIdentifier>> ListTables(
      std::string_view namespace_name) = 0;

  /// All namespaces, nested ones too, in order.
  virtual Result<std::vector<std::string>> ListNamespaces() = 0;

  virtual Status CreateNamespace(std::string_view namespace_name) = 0;
};

}  // namespace firn::iceberg

template <>
struct fmt::formatter<firn::iceberg::TableIdentifier> : fmt::formatter<std::string> {
  template <typename Context>
  auto format(const firn::iceberg::TableIdentifier& identifier, Context& context) const {
    return fmt::formatter<std::string>::format(firn::iceberg::ToString(identifier),
                                               context);
  }
};
