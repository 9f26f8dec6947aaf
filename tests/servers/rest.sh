#!/usr/bin/env bash
# An Iceberg REST catalog: Apache Iceberg's own adapter (Apache-2.0) over its JDBC catalog on SQLite.
# REST_PROPERTIES may hold further catalog properties, one key=value a line (an S3 warehouse, say).
name=rest
source "$(dirname "$0")/process.sh"
source_file="$servers/rest/RestCatalogMain.java"
classes="$downloads/rest/classes"

install_server() {
  need_command curl curl
  install_jars
  cmp -s "$source_file" "$classes/RestCatalogMain.java" && return
  mkdir -p "$classes"
  javac -nowarn -cp "$downloads/rest/jars/*" -d "$classes" "$source_file" ||
    give_up "$source_file does not compile"
  cp "$source_file" "$classes"
}

answers() { curl --silent --fail --output /dev/null "http://127.0.0.1:$1/v1/config"; }

start_server() {
  mkdir -p "$state/rest/warehouse"
  local properties
  mapfile -t properties <<<"${REST_PROPERTIES:-}"
  launch "$1" java -Xmx512m -XX:TieredStopAtLevel=1 -Dorg.slf4j.simpleLogger.defaultLogLevel=warn \
    -cp "$classes:$downloads/rest/jars/*" org.apache.iceberg.rest.RestCatalogMain "$1" \
    "uri=jdbc:sqlite:file:$state/rest/catalog.db" "warehouse=file://$state/rest/warehouse" \
    "${properties[@]}"
}

run_command 28182 "$@"
