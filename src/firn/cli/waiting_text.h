#pragma once

#include <string>

#include "firn/shift/table_shift.h"
#include "firn/wal/admission.h"

namespace firn::cli {

/// Why a shard cannot go on, and what to do: a sentence.
std::string HoleText(const shift::JudgedHole& judged);

/// Why a shard waits for another one.
std::string WaitingText(const wal::WaitingShard& waiting);

}  // namespace firn::cli
