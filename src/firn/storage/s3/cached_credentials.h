#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "firn/storage/s3/credentials.h"

namespace firn::storage::s3 {

/// One place where credentials may be. `fetch` fails with NotFound if there are none.
struct CredentialsSource {
  /// For the message that none had any: "the environment".
  std::string name;
  std::function<Result<Credentials>()> fetch;
};

/// Credentials that end are fetched anew so long before.
inline constexpr Duration kRefreshBefore = std::chrono::minutes(5);
/// After a failed refresh the old ones are given for so long, if they are good still.
inline constexpr Duration kRefreshAgainAfter = std::chrono::seconds(30);

/// Asks the sources in order, the first time; then only the one that had credentials,
/// and only when they are about to end. Thread-safe: one thread fetches, others wait.
class CachedCredentials : public CredentialsProvider {
 public:
  /// `first` is given until it is about to end.
  CachedCredentials(Runtime& runtime, std::vector<CredentialsSource> sources,
                    std::optional<Credentials> first = std::nullopt)
      : runtime_(runtime),
        mutex_(runtime),
        sources_(std::move(sources)),
        current_(std::move(first)) {}

  Result<Credentials> Get() override;
  void Forget(const Credentials& expired) override;

 private:
  bool IsFresh(WallTime now) const;
  Result<Credentials> Fetch();

  Runtime& runtime_;
  Mutex mutex_;
  /// One, once it is known which has them. Guarded by mutex_, as the rest.
  std::vector<CredentialsSource> sources_;
  std::optional<Credentials> current_;
  WallTime refresh_after_{};
};

}  // namespace firn::storage::s3
