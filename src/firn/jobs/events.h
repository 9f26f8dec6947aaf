#pragma once

#include <functional>
#include <string>

namespace firn::jobs {

enum class EventLevel { kInfo, kWarning };

/// Told, in a sentence each, what an operator may want to act on; never once per record.
/// Called from any thread.
using EventSink = std::function<void(EventLevel, const std::string&)>;

}  // namespace firn::jobs
