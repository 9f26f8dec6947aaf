// A planner's case file. One that is read is planned, and written again it makes the same
// plan; a plan can be drawn.

#include "firn/planner/case_file.h"
#include "firn/planner/plan_json.h"
#include "firn/planner/text_picture.h"
#include "fuzz_input.h"

namespace firn::planner {
namespace {

std::string PlanText(const CaseFile& file, const Plan& plan) {
  return RenderPlanJson(file.input, plan, file.legend);
}

void Try(std::string_view json) {
  const Result<CaseFile> file = ParseCaseFile(json);
  if (!file.ok()) return;
  const Result<Plan> plan = MakePlan(file->input, file->limits, {});
  const Result<std::string> text = WriteCaseFile(file->input, file->limits, file->legend);
  fuzz::Require(text.status());
  const Result<CaseFile> again = ParseCaseFile(*text);
  fuzz::Require(again.status());
  const Result<Plan> same = MakePlan(again->input, again->limits, {});
  FIRN_CHECK(plan.ok() == same.ok(), "{} {}", plan.status().ToString(),
             same.status().ToString());
  if (!plan.ok()) return;
  DrawPlan({file->input, file->limits, *plan, file->legend});
  FIRN_CHECK(PlanText(*file, *plan) == PlanText(*again, *same), "{}", *text);
}

}  // namespace
}  // namespace firn::planner

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  firn::planner::Try(firn::fuzz::TextOf(data, size));
  return 0;
}
