#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

// Words and numbers of the pictures of a plan.

namespace firn::planner {

/// "35,000".
std::string CountText(std::int64_t count);
/// "1 file", "35,000 files".
std::string CountOf(std::int64_t count, std::string_view thing);
/// "100 B", "67.0 MiB".
std::string SizeText(std::int64_t bytes);

/// Valid UTF-8 that neither steers a terminal nor breaks an XML document: what is no
/// character, controls something or turns the direction of text becomes "?".
std::string Printable(std::string_view text);

/// Characters of UTF-8.
std::size_t TextLength(std::string_view text);
/// At most `length_max` characters, an ellipsis at the end if something is left out.
std::string Shortened(const std::string& text, std::size_t length_max);

}  // namespace firn::planner
