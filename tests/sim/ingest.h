#pragma once

#include "firn/wal/table_buffer.h"
#include "world.h"

namespace firn::sim {

/// Of a buffer of this process.
wal::TableBufferOptions BufferOptionsOf(const Process& process);

/// A process that takes deliveries until `left` is used up, reads one partition of the
/// source to its end, and then ends in good order.
///
/// Clients hand over one delivery after the other, and count a record as acknowledged if
/// they are told so. After a failure the process opens another buffer; its clients do not
/// send again, but what reads the source goes on from the table's position.
void RunIngest(Process& process, int source_partition, int& left);

/// Reads what the table does not have yet of a partition of the source.
void FinishSource(Process& process, int source_partition);

}  // namespace firn::sim
