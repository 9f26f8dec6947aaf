#pragma once

#include <memory>

#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/http/http_client.h"

namespace firn::http {

/// How requests end once a stop is asked for: they have `grace` left, or as long from
/// their beginning, instead of their time-out. So what a server is about to answer is
/// heard, and one that is silent holds nobody up. Looked at about once a second.
struct RequestStop {
  StopToken token;
  Duration grace = std::chrono::seconds(5);
};

/// As MakeHttpClient, whose errors a request that is given up has, too: OutcomeUnknown
/// unless it is a GET or HEAD, or was not sent yet.
Result<std::unique_ptr<HttpClient>> MakeStoppableHttpClient(Runtime& runtime,
                                                            HttpOptions options,
                                                            RequestStop stop);

}  // namespace firn::http
