#pragma once

#include "world.h"

namespace firn::sim {

/// A process as `firn serve` runs it, without HTTP: a pipeline takes deliveries until
/// `left` is used up, makes them durable, and shifts its WAL meanwhile; then it ends in
/// good order.
///
/// Clients do not wait for an answer before they send the next delivery, and do not send
/// one again.
void RunServer(Process& process, int& left);

}  // namespace firn::sim
