#include "firn/http/http_client.h"

#include "firn/core/lower_case.h"

namespace firn::http {

std::optional<std::string_view> FindHeader(const std::vector<Header>& headers,
                                           std::string_view name) {
  for (const Header& header : headers) {
    if (EqualWithoutCase(header.name, name)) return header.value;
  }
  return std::nullopt;
}

std::string UrlForMessage(std::string_view url) {
  url = url.substr(0, url.find_first_of("?#"));
  const std::size_t scheme_end = url.find("://");
  const std::size_t start = scheme_end == std::string_view::npos ? 0 : scheme_end + 3;
  const std::string_view authority =
      url.substr(start, url.find('/', start) - start);  // to the end if there is no '/'
  const std::size_t user_end = authority.rfind('@');
  const std::size_t user_bytes = user_end == std::string_view::npos ? 0 : user_end + 1;
  return fmt::format("{}{}", url.substr(0, start), url.substr(start + user_bytes));
}

}  // namespace firn::http
