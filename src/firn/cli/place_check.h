#pragma once

#include <string>
#include <utility>
#include <vector>

#include "firn/cli/commands.h"
#include "firn/core/status.h"

namespace firn::cli {

/// What was looked at, and what was found.
struct Finding {
  std::string subject;
  bool fine = true;
  std::string text;
};

inline Finding Fine(std::string subject, std::string text) {
  return {.subject = std::move(subject), .fine = true, .text = std::move(text)};
}

inline Finding Wrong(std::string subject, std::string text) {
  return {.subject = std::move(subject), .fine = false, .text = std::move(text)};
}

/// What warehouse and WAL, whose folder is `wal_path`, need of this machine and of S3:
/// room, rights, memory. In S3 an object is put there, and deleted. An error if the
/// configuration cannot be read as stores.
Status CheckPlaces(const CommandContext& context, const std::string& wal_path,
                   std::vector<Finding>& findings);

}  // namespace firn::cli
