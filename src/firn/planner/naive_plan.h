#pragma once

#include "firn/planner/plan.h"

namespace firn::planner {

/// The planner's rules once more, for tests: written from their text alone, with exact
/// fractions, and without a care for time (about cubic). Shares no code with MakePlan.
Plan MakeNaivePlan(const PlanInput& input, const Limits& limits);

}  // namespace firn::planner
