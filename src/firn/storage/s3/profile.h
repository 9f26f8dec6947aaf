#pragma once

#include <map>
#include <string>
#include <string_view>

#include "firn/core/status.h"
#include "firn/storage/s3/credentials_sources.h"

namespace firn::storage::s3 {

/// A profile's settings, from ~/.aws/config and, above it, ~/.aws/credentials, or the
/// files that AWS_CONFIG_FILE and AWS_SHARED_CREDENTIALS_FILE name.
struct Profile {
  std::string name;
  std::map<std::string, std::string> settings;
};

/// The profile `name`; if that is empty, AWS_PROFILE, else "default". A profile that was
/// named must be there; "default" may be missing, and is empty then.
Result<Profile> ReadProfile(const std::string& name, const Environment& environment);

/// The settings below [section] of an INI file as AWS's tools write it; none if there is
/// no such section. `found` tells which.
std::map<std::string, std::string> SectionOf(std::string_view text,
                                             std::string_view section, bool& found);

/// Keys, or a web identity. Invalid for a profile that gets them in a way that Firn does
/// not know (a process, single sign-on, another profile's role).
Result<Credentials> ProfileCredentials(const Profile& profile,
                                       const Environment& environment,
                                       const std::string& region, http::HttpClient& http);

}  // namespace firn::storage::s3
