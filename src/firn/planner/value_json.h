#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "firn/core/status.h"
#include "firn/order/key_encoder.h"
#include "firn/types/type.h"
#include "firn/types/value.h"

namespace firn::planner {

/// Values as in Iceberg's single-value JSON (spec, Appendix C), but that timestamps are
/// numbers (microseconds, or nanoseconds as the type says) and a float may be "NaN",
/// "-NaN", "Infinity" or "-Infinity". null is null. REQUIRES: `type` is primitive.
nlohmann::ordered_json ToJson(const types::Type& type, const types::Value& value);
/// Invalid, without a place, if `json` is no value of `type`.
Result<types::Value> ValueFromJson(const types::Type& type,
                                   const nlohmann::ordered_json& json);

/// A key as an array of its columns' values; as "0x<hex>" where it does not decode.
nlohmann::ordered_json KeyToJson(const order::KeyEncoder& encoder, std::string_view key);

/// As KeyToJson, but "0x<hex>" also for a key that would not come back as the same bytes,
/// such as a truncated one.
nlohmann::ordered_json ExactKeyToJson(const order::KeyEncoder& encoder,
                                      std::string_view key);
/// The normalized key. Invalid, without a place, if `json` is neither.
Result<std::string> KeyFromJson(const order::KeyEncoder& encoder,
                                const nlohmann::ordered_json& json);

}  // namespace firn::planner
