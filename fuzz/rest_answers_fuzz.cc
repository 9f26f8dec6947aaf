// Answers of a REST catalog: whatever the server says, it is read or refused with words
// that can be shown.

#include "firn/iceberg/catalog/rest/rest_messages.h"
#include "firn/iceberg/catalog/rest/rest_outcome.h"
#include "fuzz_input.h"

namespace firn::iceberg::rest {
namespace {

void RequireShowable(const Status& status) {
  for (const char c : status.message()) {
    FIRN_CHECK(static_cast<unsigned char>(c) >= 0x20, "{}", status.message());
  }
}

void Try(std::string_view text) {
  (void)ParseServerConfig(text);
  (void)ParseTable(text);
  (void)ParseTables(text);
  (void)ParseNamespaces(text);
  (void)ParseCredentials(text);
  (void)ParseOAuthToken(text);
  for (const int status : {200, 400, 404, 409, 500}) {
    RequireShowable(OutcomeOf({CallKind::kChange, "POST", "/v1/x"}, status, text));
  }
}

}  // namespace
}  // namespace firn::iceberg::rest

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  firn::iceberg::rest::Try(firn::fuzz::TextOf(data, size));
  return 0;
}
