#pragma once

#include <string>
#include <vector>

#include "firn/core/status.h"

namespace firn::sources {

/// The path that stands for standard input.
inline constexpr char kStandardInput[] = "-";

/// The files that `patterns` name, in the order of the patterns and, within one, of the
/// bytes of their paths.
///
/// A pattern is a path, "-", or a glob(7) pattern; a file that is named exactly like a
/// pattern wins. NotFound if nothing matches; Invalid for a directory, and for a file
/// that is named twice, also through a link, since its records would be loaded twice;
/// and for "**", which glob(7) takes for "*".
/// Names the pattern.
Result<std::vector<std::string>> ExpandFiles(const std::vector<std::string>& patterns);

}  // namespace firn::sources
