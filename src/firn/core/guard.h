#pragma once

/// FIRN_GUARD(name, condition) is `condition`: a rule without which records would be lost
/// or landed twice.
///
/// Only the simulation compiles such sources a second time, with FIRN_GUARDS_MAY_BE_OFF,
/// to see that it notices when a rule is not kept. In any other program the macro is its
/// condition, and nothing can switch it off.

#ifdef FIRN_GUARDS_MAY_BE_OFF

namespace firn {

enum class Guard { kChain, kPositions, kRollbackStop, kPassed, kNamed };

/// Defined by the simulation.
bool IsOff(Guard guard);

}  // namespace firn

#define FIRN_GUARD(name, condition) (::firn::IsOff(::firn::Guard::name) || (condition))

#else

#define FIRN_GUARD(name, condition) (condition)

#endif
