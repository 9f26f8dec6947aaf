#include "firn/sources/files/text_blocks.h"

#include <algorithm>
#include <utility>

namespace firn::sources {
namespace {

constexpr std::int64_t kBlockBytes = 1LL << 20;
/// A block grows by so much at a time, so that a small file does not pay for a whole one.
constexpr std::int64_t kReadBytes = 64LL << 10;
/// How far the front is searched for what no text has.
constexpr std::size_t kLookedAtBytes = 4096;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

}  // namespace

TextBlocks::TextBlocks(InputFile file, std::int64_t record_bytes_max)
    : file_(std::move(file)), record_bytes_max_(record_bytes_max) {}

Status TextBlocks::ReadUpTo(std::int64_t bytes) {
  buffer_.erase(0, std::exchange(consumed_, 0));
  while (!is_last_ && std::ssize(buffer_) < bytes) {
    const std::size_t size = buffer_.size();
    const std::int64_t wanted = std::min(bytes - std::ssize(buffer_), kReadBytes);
    FIRN_RETURN_NOT_OK(file_.Read(wanted, buffer_));
    is_last_ = buffer_.size() == size;
  }
  if (!std::exchange(is_first_, false)) return Status::OK();
  if (buffer_.substr(0, kLookedAtBytes).find('\0') != std::string::npos) {
    return InvalidError("{}: is no text in UTF-8, but binary or UTF-16", file_.name());
  }
  if (buffer_.starts_with(kByteOrderMark)) consumed_ = kByteOrderMark.size();
  return Status::OK();
}

Status TextBlocks::Fill() {
  // What is left of a block is moved to its front: worth it only for a small rest.
  if (!is_first_ && std::ssize(text()) >= kBlockBytes / 4) return Status::OK();
  return ReadUpTo(kBlockBytes);
}

Status TextBlocks::Grow() {
  const std::int64_t bytes = std::ssize(text());
  if (bytes >= record_bytes_max_) {
    return InvalidError("longer than {} bytes", record_bytes_max_);
  }
  return ReadUpTo(std::min(std::max(bytes * 2, kBlockBytes), record_bytes_max_));
}

}  // namespace firn::sources
