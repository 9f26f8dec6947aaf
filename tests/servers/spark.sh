#!/usr/bin/env bash
# Spark with the Iceberg runtime and SQLite's JDBC driver (all Apache-2.0).
# No server: a session lives in the process that imports pyspark from .deps/servers/spark/python.
name=spark
source "$(dirname "$0")/process.sh"

python_is_current() { cmp -s "$servers/spark/requirements.txt" "$downloads/spark/python.stamp"; }

install_server() {
  install_jars
  python_is_current && return
  say "fetching pyspark"
  rm -rf "$downloads/spark/python"
  "$downloads/../venv/bin/pip" install --quiet --disable-pip-version-check --require-hashes \
    --no-deps --no-compile --target "$downloads/spark/python" -r "$servers/spark/requirements.txt" >&2 ||
    give_up "pip cannot install what $servers/spark/requirements.txt lists"
  cp "$servers/spark/requirements.txt" "$downloads/spark/python.stamp"
}

case ${1:-} in
  install) install_server ;;
  ready) python_is_current ;;
  start | stop) give_up "a session starts and ends with the process that uses it" ;;
  *)
    echo "usage: spark.sh install | ready" >&2
    exit 2
    ;;
esac
