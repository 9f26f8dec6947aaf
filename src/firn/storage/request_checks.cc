#include "firn/storage/request_checks.h"

#include <algorithm>

namespace firn::storage {
namespace {

/// Why `part` cannot stand between two slashes of a key; empty if it can.
std::string_view FaultOfPart(std::string_view part) {
  if (part.empty()) return "has an empty part";
  if (part == "." || part == "..") return "has a part '.' or '..'";
  if (part.find('\0') != std::string_view::npos) return "holds a NUL byte";
  if (part.starts_with(kReservedNamePrefix))
    return "has a part that starts with '.firn-'";
  return {};
}

Status ValidateParts(std::string_view text, std::string_view what) {
  std::string_view rest = text;
  while (true) {
    const std::size_t end = std::min(rest.find('/'), rest.size());
    const std::string_view fault = FaultOfPart(rest.substr(0, end));
    if (!fault.empty()) {
      return InvalidError("{} '{}' {}: name parts joined by single slashes", what, text,
                          fault);
    }
    if (end == rest.size()) return Status::OK();
    rest.remove_prefix(end + 1);
  }
}

}  // namespace

Status ValidateKey(std::string_view key) { return ValidateParts(key, "object key"); }

Status ValidatePrefix(std::string_view prefix) {
  if (prefix.find('\0') != std::string_view::npos) {
    return InvalidError("prefix '{}' holds a NUL byte", prefix);
  }
  const std::size_t slash = prefix.rfind('/');
  if (slash == std::string_view::npos) return Status::OK();
  return ValidateParts(prefix.substr(0, slash), "prefix");
}

Status ValidateRange(std::string_view key, std::int64_t offset, std::int64_t length,
                     std::int64_t size_bytes) {
  if (offset < 0 || length < 0) {
    return InvalidError("cannot read {} bytes at {} of object '{}': negative", length,
                        offset, key);
  }
  if (offset > size_bytes || length > size_bytes - offset) {
    return Error(ErrorKind::kCorruption,
                 "object '{}' ends too early: {} bytes wanted at {}, it has {}", key,
                 length, offset, size_bytes);
  }
  return Status::OK();
}

}  // namespace firn::storage
