#pragma once

#include <string>
#include <vector>

#include "firn/cli/json_output.h"
#include "firn/cli/stores.h"
#include "firn/iceberg/metadata/manifest.h"

namespace firn::cli {

/// A manifest list as a table, for people. Values of partitions are shown in their types
/// where a manifest of that spec can be read in `stores`, else as bytes.
void PrintManifestList(const std::string& file,
                       const std::vector<iceberg::ManifestFile>& manifests,
                       const Stores& stores);

/// The same for programs.
Json ManifestListJson(const std::string& file,
                      const std::vector<iceberg::ManifestFile>& manifests,
                      const Stores& stores);

}  // namespace firn::cli
