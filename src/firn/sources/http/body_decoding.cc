#include "firn/sources/http/body_decoding.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include <arrow/buffer.h>
#include <arrow/io/memory.h>

#include "firn/core/lower_case.h"
#include "firn/sources/files/input_file.h"

namespace firn::sources {
namespace {

constexpr std::array<std::string_view, 3> kCompressed = {"gzip", "x-gzip", "zstd"};
constexpr std::array<std::string_view, 2> kPlain = {"", "identity"};
constexpr std::size_t kPieceBytes = 64 << 10;

bool IsCompressed(std::string_view encoding) {
  return std::ranges::count(kCompressed, LowerCase(encoding)) > 0;
}

/// Makes room for another piece.
Status Grow(std::string& text, const ClaimMemory& claim) {
  if (text.capacity() - text.size() >= kPieceBytes) return Status::OK();
  const std::size_t bytes = std::max(2 * text.capacity(), text.size() + kPieceBytes);
  FIRN_RETURN_NOT_OK(claim(static_cast<std::int64_t>(bytes)));
  text.reserve(bytes);
  return Status::OK();
}

}  // namespace

bool IsKnownEncoding(std::string_view encoding) {
  return IsCompressed(encoding) || std::ranges::count(kPlain, LowerCase(encoding)) > 0;
}

Result<std::string> DecodeBody(std::string body, std::string_view encoding,
                               std::int64_t bytes_max, const ClaimMemory& claim) {
  const auto buffer = std::make_shared<arrow::Buffer>(std::string_view(body));
  FIRN_ASSIGN_OR_RETURN(InputFile file,
                        InputFile::Make(std::make_shared<arrow::io::BufferReader>(buffer),
                                        "the body", buffer->size()));
  if (!file.is_compressed()) {
    if (!IsCompressed(encoding)) return body;
    return InvalidError("the body is neither gzip nor zstd, though it is said to be {}",
                        encoding);
  }
  std::string text;
  while (true) {
    const std::size_t before = text.size();
    FIRN_RETURN_NOT_OK(Grow(text, claim));
    FIRN_RETURN_NOT_OK(file.Read(kPieceBytes, text));
    if (text.size() == before) return text;
    if (std::ssize(text) > bytes_max) {
      return Status::CapacityError("the body has more than ", bytes_max,
                                   " bytes when it is decompressed");
    }
  }
}

}  // namespace firn::sources
