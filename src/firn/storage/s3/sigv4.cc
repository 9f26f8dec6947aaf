#include "firn/storage/s3/sigv4.h"

#include <algorithm>
#include <map>

#include "firn/core/lower_case.h"
#include "firn/storage/s3/digest.h"
#include "firn/storage/s3/utc_time.h"

namespace firn::storage::s3 {
namespace {

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";

/// Without blanks at the ends, and one where there were several.
std::string SingleSpaced(std::string_view text) {
  std::string single;
  for (const char c : text) {
    if (c != ' ') {
      single += c;
    } else if (!single.empty() && single.back() != ' ') {
      single += c;
    }
  }
  if (single.ends_with(' ')) single.pop_back();
  return single;
}

/// In the order in which they are signed.
std::map<std::string, std::string> CanonicalHeaders(
    const std::vector<http::Header>& headers) {
  std::map<std::string, std::string> canonical;
  for (const auto& [name, value] : headers) {
    const auto [entry, is_new] = canonical.try_emplace(LowerCase(name));
    if (!is_new) entry->second += ',';
    entry->second += SingleSpaced(value);
  }
  return canonical;
}

std::string SigningKey(const std::string& secret, const SigningScope& scope,
                       std::string_view date) {
  std::string key = HmacSha256("AWS4" + secret, date);
  for (const std::string_view part :
       {std::string_view(scope.region), std::string_view(scope.service),
        std::string_view("aws4_request")}) {
    key = HmacSha256(key, part);
  }
  return key;
}

}  // namespace

std::vector<http::Header> Sign(const RequestToSign& request, const SigningScope& scope,
                               const Credentials& credentials) {
  const std::string time = CompactTime(scope.time);
  const std::string date = time.substr(0, 8);
  std::vector<http::Header> added = {{.name = "X-Amz-Date", .value = time}};
  if (!credentials.session_token.empty()) {
    added.push_back({.name = "X-Amz-Security-Token", .value = credentials.session_token});
  }

  std::vector<http::Header> headers = request.headers;
  headers.insert(headers.end(), added.begin(), added.end());
  std::string signed_names;
  std::string header_lines;
  for (const auto& [name, value] : CanonicalHeaders(headers)) {
    signed_names += (signed_names.empty() ? "" : ";") + name;
    header_lines += fmt::format("{}:{}\n", name, value);
  }
  const std::string canonical_request = fmt::format(
      "{}\n{}\n{}\n{}\n{}\n{}", request.method, request.path, EncodeQuery(request.query),
      header_lines, signed_names, request.payload_sha256);

  const std::string scope_text =
      fmt::format("{}/{}/{}/aws4_request", date, scope.region, scope.service);
  const std::string to_sign = fmt::format("{}\n{}\n{}\n{}", kAlgorithm, time, scope_text,
                                          Sha256Hex(canonical_request));
  const std::string signature =
      Hex(HmacSha256(SigningKey(credentials.secret_access_key, scope, date), to_sign));
  added.push_back({.name = "Authorization",
                   .value = fmt::format(
                       "{} Credential={}/{}, SignedHeaders={}, Signature={}", kAlgorithm,
                       credentials.access_key_id, scope_text, signed_names, signature)});
  return added;
}

}  // namespace firn::storage::s3
