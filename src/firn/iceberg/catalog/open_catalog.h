#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "firn/core/runtime.h"
#include "firn/iceberg/catalog/catalog.h"
#include "firn/iceberg/catalog/catalog_properties.h"
#include "firn/iceberg/io/file_io.h"

namespace firn::iceberg {

struct CatalogSettings {
  std::string name = "firn";
  CatalogProperties properties = {};
  /// The path of a SQLite file, taken as it is, in place of the property `uri`, which
  /// cannot name every file. Empty: the property counts.
  std::string sqlite_file = {};
  CatalogMode mode = CatalogMode::kCreate;
  /// How long one request to a database waits, for a lock or for a server that does not
  /// answer, before Unavailable. A REST catalog has properties for that.
  std::int64_t wait_ms = 10'000;
  /// Once it asks, no request to a REST catalog is sent again.
  StopToken stop = {};
};

/// The one place where a catalog is made from its properties.
///
/// `io` and `runtime` must outlive the catalog. Invalid for what FindPropertyProblem
/// finds; NotFound if there is none and none is to be made; Unavailable if its server
/// does not answer.
Result<std::unique_ptr<Catalog>> OpenCatalog(const CatalogSettings& settings,
                                             const FileIo& io, Runtime& runtime);

}  // namespace firn::iceberg
