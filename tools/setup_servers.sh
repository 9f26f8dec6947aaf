#!/usr/bin/env bash
# Installs the servers and readers of tests/interop into .deps/servers, each pinned and checked.
# One that cannot be installed is named with its reason and its tests are skipped;
# with FIRN_REQUIRE_SERVERS=1 that is an error.
set -uo pipefail
cd "$(dirname "$0")/.."

missing=0
for server in postgres s3 rest spark; do
  tests/servers/$server.sh install || missing=1
done
((missing == 0)) || [[ ${FIRN_REQUIRE_SERVERS:-0} != 1 ]]
