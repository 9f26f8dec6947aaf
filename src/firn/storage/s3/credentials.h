#pragma once

#include <optional>
#include <string>

#include "firn/core/runtime.h"
#include "firn/core/status.h"

namespace firn::storage::s3 {

/// Never part of a message or log.
struct Credentials {
  std::string access_key_id;
  std::string secret_access_key;
  /// Empty for keys without an end.
  std::string session_token;
  std::optional<WallTime> expires;

  bool operator==(const Credentials&) const = default;
};

/// Where credentials come from. Thread-safe.
class CredentialsProvider {
 public:
  virtual ~CredentialsProvider() = default;

  /// Valid now, and for a while. NotFound if this source has none, so that another may
  /// be asked; any other error if it has, but they cannot be used.
  virtual Result<Credentials> Get() = 0;

  /// The server says that these have expired: the next Get asks the source anew.
  virtual void Forget(const Credentials& expired) { (void)expired; }
};

class StaticCredentials : public CredentialsProvider {
 public:
  explicit StaticCredentials(Credentials credentials)
      : credentials_(std::move(credentials)) {}
  Result<Credentials> Get() override { return credentials_; }

 private:
  const Credentials credentials_;
};

}  // namespace firn::storage::s3
