#pragma once

#include "firn/core/status.h"
#include "firn/http/http_client.h"
#include "firn/iceberg/catalog/catalog_properties.h"
#include "firn/iceberg/catalog/rest/rest_client.h"
#include "firn/iceberg/catalog/rest/rest_messages.h"
#include "firn/iceberg/catalog/rest/rest_routes.h"
#include "firn/iceberg/catalog/rest/rest_token.h"

/// What a REST catalog's properties mean: docs/rest-catalog.md lists them. Named as
/// PyIceberg and Iceberg's Java library name them. Pure.
namespace firn::iceberg::rest {

using Properties = CatalogProperties;

/// The server's defaults, the client's own above them, the server's overrides above all
/// (rest-catalog-open-api.yaml, "/v1/config").
Properties Merged(const ServerConfig& config, Properties properties);

/// Invalid, naming the property, if `uri` is missing or no http(s) URL, a number is none,
/// or what it asks for is not there (signed requests, client certificates). Values are
/// not shown: they may be secrets.
Result<RestClientOptions> ClientOptionsOf(const Properties& properties);
Result<http::HttpOptions> HttpOptionsOf(const Properties& properties);

TokenOptions TokenOptionsOf(const Properties& properties);
Routes::Options RouteOptionsOf(const Properties& properties);

}  // namespace firn::iceberg::rest
