#include "firn/storage/s3/cached_credentials.h"

#include <algorithm>

namespace firn::storage::s3 {

bool CachedCredentials::IsFresh(WallTime now) const {
  if (!current_.has_value()) return false;
  if (!current_->expires.has_value()) return true;
  return now < *current_->expires - kRefreshBefore ||
         (now < *current_->expires && now < refresh_after_);
}

Result<Credentials> CachedCredentials::Get() {
  MutexLock lock(mutex_);
  const WallTime now = runtime_.Now();
  if (IsFresh(now)) return *current_;
  auto fetched = Fetch();
  if (fetched.ok()) {
    current_ = *fetched;
    // Some give credentials that end sooner than one would ask for new ones.
    refresh_after_ = now + kRefreshAgainAfter;
    return fetched;
  }
  const bool still_good = current_ && current_->expires && now < *current_->expires;
  if (!still_good) return fetched.status();
  refresh_after_ = now + kRefreshAgainAfter;
  return *current_;
}

void CachedCredentials::Forget(const Credentials& expired) {
  MutexLock lock(mutex_);
  // Another thread may have fetched new ones meanwhile.
  if (current_ == expired) current_.reset();
}

Result<Credentials> CachedCredentials::Fetch() {
  std::string names;
  for (const CredentialsSource& source : sources_) {
    auto fetched = source.fetch();
    if (fetched.ok()) {
      sources_ = {CredentialsSource(source)};
      return fetched;
    }
    if (!IsError(fetched.status(), ErrorKind::kNotFound)) {
      return AddContext(fetched.status(), "S3 credentials from " + source.name);
    }
    names += (names.empty() ? "" : ", ") + source.name;
  }
  return Status::IOError(fmt::format(
      "no S3 credentials; looked at: {}. Set s3.access-key-id and s3.secret-access-key, "
      "or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
      names));
}

}  // namespace firn::storage::s3
