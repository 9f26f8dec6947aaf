#include "firn/cli/exit_code.h"

#include <memory>

namespace firn::cli {
namespace {

constexpr char kDetailTypeId[] = "firn::cli::UsageError";

class UsageErrorDetail : public arrow::StatusDetail {
 public:
  const char* type_id() const override { return kDetailTypeId; }
  std::string ToString() const override { return "wrong usage"; }
};

}  // namespace

Status AsUsageError(const Status& status) {
  if (status.ok()) return status;
  return status.WithDetail(std::make_shared<UsageErrorDetail>());
}

int ExitCodeOf(const Status& status) {
  if (status.ok()) return kExitDone;
  const bool usage =
      status.detail() != nullptr && status.detail()->type_id() == kDetailTypeId;
  return usage ? kExitUsage : kExitFailed;
}

}  // namespace firn::cli
