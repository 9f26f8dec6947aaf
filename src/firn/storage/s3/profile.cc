#include "firn/storage/s3/profile.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>

namespace firn::storage::s3 {
namespace {

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) + 1 - first);
}

/// Empty if there is no such file: profiles are optional.
std::string FileText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string ProfileFile(const Environment& environment, const char* variable,
                        const char* name) {
  if (auto path = environment(variable)) return *path;
  const auto home = environment("HOME");
  return home ? fmt::format("{}/.aws/{}", *home, name) : std::string();
}

std::string Setting(const Profile& profile, const char* name) {
  const auto found = profile.settings.find(name);
  return found == profile.settings.end() ? std::string() : found->second;
}

}  // namespace

std::map<std::string, std::string> SectionOf(std::string_view text,
                                             std::string_view section, bool& found) {
  std::map<std::string, std::string> settings;
  bool inside = false;
  found = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view raw = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::string_view line = Trimmed(raw);
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    if (line.front() == '[') {
      inside = Trimmed(line.substr(1, line.find(']') - 1)) == section;
      found = found || inside;
      continue;
    }
    // An indented line belongs to a nested setting, such as "s3 =".
    const bool nested = raw.front() == ' ' || raw.front() == '\t';
    const std::size_t equals = line.find('=');
    if (!inside || nested || equals == std::string_view::npos) continue;
    settings.insert_or_assign(std::string(Trimmed(line.substr(0, equals))),
                              std::string(Trimmed(line.substr(equals + 1))));
  }
  return settings;
}

Result<Profile> ReadProfile(const std::string& name, const Environment& environment) {
  std::optional<std::string> wanted = environment("AWS_PROFILE");
  if (!name.empty()) wanted = name;
  Profile profile{.name = wanted.value_or("default"), .settings = {}};
  const std::string keys_file =
      ProfileFile(environment, "AWS_SHARED_CREDENTIALS_FILE", "credentials");
  const std::string config_file = ProfileFile(environment, "AWS_CONFIG_FILE", "config");
  const std::string config_section =
      profile.name == "default" ? "default" : "profile " + profile.name;
  bool has_keys = false;
  bool has_config = false;
  profile.settings = SectionOf(FileText(keys_file), profile.name, has_keys);
  // What is there already stays.
  profile.settings.merge(SectionOf(FileText(config_file), config_section, has_config));
  if (wanted && !has_keys && !has_config) {
    return InvalidError("there is no AWS profile {:?} in {:?} or {:?}", profile.name,
                        keys_file, config_file);
  }
  return profile;
}

Result<Credentials> ProfileCredentials(const Profile& profile,
                                       const Environment& environment,
                                       const std::string& region,
                                       http::HttpClient& http) {
  Credentials credentials{.access_key_id = Setting(profile, "aws_access_key_id"),
                          .secret_access_key = Setting(profile, "aws_secret_access_key"),
                          .session_token = Setting(profile, "aws_session_token")};
  if (!credentials.access_key_id.empty() && !credentials.secret_access_key.empty()) {
    return credentials;
  }
  const WebIdentity identity{.role_arn = Setting(profile, "role_arn"),
                             .token_file = Setting(profile, "web_identity_token_file"),
                             .session_name = Setting(profile, "role_session_name")};
  if (!identity.role_arn.empty() && !identity.token_file.empty()) {
    return WebIdentityCredentials(identity, environment, region, http);
  }
  for (const char* unknown : {"role_arn", "credential_process", "sso_session",
                              "sso_start_url", "credential_source"}) {
    if (!profile.settings.contains(unknown)) continue;
    return InvalidError(
        "AWS profile {:?} gets its credentials by {}, which is not supported: put them "
        "into the environment, as 'aws configure export-credentials' does",
        profile.name, unknown);
  }
  return Error(ErrorKind::kNotFound, "AWS profile {:?} has no keys", profile.name);
}

}  // namespace firn::storage::s3
