#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "firn/core/status.h"
#include "firn/iceberg/metadata/table_metadata.h"
#include "firn/order/key_encoder.h"
#include "firn/types/partition_spec.h"
#include "firn/types/value.h"

namespace firn::cli {

std::string HexText(std::string_view bytes);

/// "AA, 2013-01-31T23:00:00Z". A truncated key ends in "...".
Result<std::string> KeyText(const order::KeyEncoder& encoder, std::string_view key);

/// An encoder for keys of which only KeyTypesText() is known; nothing if it cannot be
/// told from the text.
std::optional<order::KeyEncoder> EncoderOfKeyTypes(std::string_view key_types);

/// KeyText if there is an encoder and it understands the key, else the bytes in
/// hexadecimal.
std::string KeyTextOrHex(const std::optional<order::KeyEncoder>& encoder,
                         std::string_view key);

/// "tenant=acme, ts_month=2013-01"; empty for an unpartitioned table.
Result<std::string> PartitionTupleText(const iceberg::TableMetadata& metadata,
                                       const types::PartitionSpec& spec,
                                       const types::PartitionTuple& tuple);

/// The values as they are stored, without what their spec says of them: "acme, 516".
std::string PlainTupleText(const types::PartitionTuple& tuple);

}  // namespace firn::cli
