// What S3 answers: whatever it is, it is read or refused with words that can be shown.

#include "firn/storage/s3/credentials_sources.h"
#include "firn/storage/s3/profile.h"
#include "firn/storage/s3/s3_answer.h"
#include "firn/storage/s3/s3_messages.h"
#include "fuzz_input.h"

namespace firn::storage::s3 {
namespace {

void Try(std::string_view text) {
  (void)ParseListPage(text);
  (void)ParseUploadId(text);
  (void)SaysComplete(text);
  (void)ParseAssumedRole(text);
  (void)ParseCredentialsJson(text);
  bool found = false;
  (void)SectionOf(text, "default", found);
  const http::Response response{.status = 403, .body = std::string(text)};
  const Status status = FailureOf({"GET", "bucket", "key"}, response);
  for (const char c : status.message()) {
    FIRN_CHECK(static_cast<unsigned char>(c) >= 0x20, "{}", status.message());
  }
}

}  // namespace
}  // namespace firn::storage::s3

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  firn::storage::s3::Try(firn::fuzz::TextOf(data, size));
  return 0;
}
