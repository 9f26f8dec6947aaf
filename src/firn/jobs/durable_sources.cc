#include "firn/jobs/durable_sources.h"

#include "firn/commit/positions.h"
#include "firn/wal/admission.h"
#include "firn/wal/wal_reader.h"

namespace firn::jobs {

Result<std::map<std::string, std::int64_t>> FindDurableSources(
    const DurableLook& look, const iceberg::TableIdentifier& table,
    const std::vector<std::string>& sources) {
  FIRN_ASSIGN_OR_RETURN(const iceberg::LoadedTable loaded, look.catalog.LoadTable(table));
  FIRN_ASSIGN_OR_RETURN(const commit::TablePositions positions,
                        commit::ReadPositions(loaded.metadata, look.wal_id));
  wal::WalReader reader(look.runtime, look.wal_store);
  FIRN_ASSIGN_OR_RETURN(
      const auto listing,
      reader.ListSegments(loaded.metadata.table_uuid, positions.reached));
  // What admission will take is what need not be read again.
  const wal::Admission admission = Admit(positions.reached, listing);
  std::map<std::string, std::int64_t> durable;
  for (const std::string& source : sources) {
    const auto next = admission.next.sources.find(source);
    if (next != admission.next.sources.end()) durable[source] = next->second;
  }
  return durable;
}

}  // namespace firn::jobs
