#!/usr/bin/env bash
# PostgreSQL (PostgreSQL licence), Debian's, with a data folder of its own.
# User "firn", password "firn", database "firn".
name=postgres
stop_signal=INT # the "fast" shutdown: it does not wait for clients
source "$(dirname "$0")/process.sh"

programs() { ls -d /usr/lib/postgresql/15/bin 2>/dev/null; }

install_server() {
  install_jars # the driver with which Spark reaches it
  [[ -n $(programs) ]] && return
  [[ $(id -u) -eq 0 ]] || give_up "not installed; run: sudo apt-get install postgresql-15"
  say "installing postgresql-15"
  # Only the programs: no cluster of the system's own that would listen.
  mkdir -p /etc/postgresql-common
  [[ -e /etc/postgresql-common/createcluster.conf ]] ||
    echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.conf
  install_packages postgresql-15
}

# The server refuses to run as root.
owner=()
[[ $(id -u) -ne 0 ]] || owner=(setpriv --reuid=postgres --regid=postgres --init-groups)

# $state/postgres, or a folder in /tmp where the server's user may not enter the repository.
make_data_folder() {
  local folder="$state/postgres"
  mkdir -p "$folder"
  if [[ $(id -u) -eq 0 ]]; then
    "${owner[@]}" test -x "$folder" || folder=$(mktemp -d /tmp/firn-postgres.XXXXXX)
    chown postgres "$folder"
  fi
  echo "$folder" >"$state/postgres/folder"
}

answers() { "$(programs)/pg_isready" --quiet --host=127.0.0.1 --port="$1"; }

start_server() {
  [[ -e $state/postgres/folder ]] || make_data_folder
  local folder
  folder=$(cat "$state/postgres/folder")
  cd "$folder"
  if [[ ! -e data/PG_VERSION ]]; then
    echo firn >password
    "${owner[@]}" "$(programs)/initdb" --pgdata="$folder/data" --username=firn --auth=scram-sha-256 \
      --pwfile=password --encoding=UTF8 --locale=C.UTF-8 --no-sync >"$state/postgres/initdb.log" 2>&1 ||
      give_up "initdb failed: $(tail -n 3 "$state/postgres/initdb.log")"
  fi
  # Test data need not survive a power cut.
  launch "$1" "${owner[@]}" "$(programs)/postgres" -D "$folder/data" -p "$1" -h 127.0.0.1 \
    -k "$folder" -c fsync=off
  export PGPASSWORD=firn
  local -a login=(--host=127.0.0.1 --port="$1" --username=firn)
  "$(programs)/psql" "${login[@]}" --list --quiet --tuples-only | grep -q '^ firn ' ||
    "$(programs)/createdb" "${login[@]}" firn
}

run_command 25433 "$@"
