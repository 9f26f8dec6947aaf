#include "firn/storage/s3/token_file.h"

#include <fstream>
#include <sstream>

namespace firn::storage::s3 {

Result<std::string> ReadTokenFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  std::string token = text.str();
  while (!token.empty() && (token.back() == '\n' || token.back() == '\r'))
    token.pop_back();
  if (!token.empty()) return token;
  return Status::IOError(fmt::format("the token file {:?} is empty or not there", path));
}

}  // namespace firn::storage::s3
