#pragma once

#include <fstream>
#include <string>

#include "firn/storage/temporary_directory.h"

namespace firn::sources {

/// A folder of files for one test.
class TestFolder {
 public:
  const std::string& path() const { return directory_.path(); }

  /// The path of a new file.
  std::string Write(const std::string& name, const std::string& bytes) {
    std::string file = path() + "/" + name;
    std::ofstream(file, std::ios::binary) << bytes;
    return file;
  }

 private:
  storage::TemporaryDirectory directory_ =
      storage::TemporaryDirectory::Make().ValueOrDie();
};

}  // namespace firn::sources
