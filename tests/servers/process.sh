# Sourced by the server scripts: where things lie, and how a server is started, awaited and ended.
#
# Downloads lie in .deps/servers/<name>. What a running server writes (data, log, pid, port) lies
# in $SERVERS_STATE/<name>, .deps/servers/state/<name> by default, so that two test runs can each
# have servers of their own.
set -euo pipefail

servers=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
downloads=$(cd "$servers/../.." && pwd)/.deps/servers
state=${SERVERS_STATE:-$downloads/state}
readonly start_seconds=60 stop_seconds=20

say() { echo "$name: $*"; }
give_up() {
  echo "$name: $*" >&2
  exit 1
}

# Debian packages come with root only; without, the reason names what to install.
need_command() { # need_command COMMAND PACKAGE
  command -v "$1" >/dev/null && return
  [[ $(id -u) -eq 0 ]] || give_up "no '$1' here; run: sudo apt-get install $2"
  install_packages "$2"
}

install_packages() {
  export DEBIAN_FRONTEND=noninteractive
  {
    apt-get install -y -qq --no-install-recommends "$@" ||
      { apt-get update -qq && apt-get install -y -qq --no-install-recommends "$@"; }
  } >/dev/null 2>&1 || give_up "apt-get cannot install $*"
}

# Brings the jars that $servers/$name/pom.xml pins to $downloads/$name/jars and compares each with
# $servers/$name/jars.sha256. Nothing is done if those two files are as they were the last time.
install_jars() {
  local pinned="$servers/$name" jars="$downloads/$name/jars" stamp="$downloads/$name/jars.stamp"
  [[ -d $jars ]] && cat "$pinned/pom.xml" "$pinned/jars.sha256" | cmp -s - "$stamp" && return
  need_command mvn maven
  need_command javac openjdk-17-jdk-headless
  say "fetching jars"
  rm -rf "$jars" "$stamp"
  mkdir -p "$jars"
  # --strict-checksums: what arrives is what the registry published.
  mvn --batch-mode --quiet --strict-checksums --file "$pinned/pom.xml" \
    dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$jars" >"$jars.log" 2>&1 ||
    give_up "Maven cannot fetch the jars: $(grep -m1 ERROR "$jars.log")"
  (cd "$jars" && sha256sum --check --quiet --strict "$pinned/jars.sha256") >&2 ||
    give_up "a jar differs from $pinned/jars.sha256"
  diff <(cd "$jars" && LC_ALL=C ls) <(awk '{print $2}' "$pinned/jars.sha256" | LC_ALL=C sort) >&2 ||
    give_up "the jars are others than $pinned/jars.sha256 lists"
  cat "$pinned/pom.xml" "$pinned/jars.sha256" >"$stamp"
}

# A killed process stays listed as a zombie until its parent looks: that one is not alive.
alive() {
  local pid
  pid=$(cat "$state/$name/pid" 2>/dev/null) || return 1
  grep -qs '^State:[[:space:]]*[^ZX]' "/proc/$pid/status"
}

# Starts COMMAND detached and waits until `answers` (defined by the script) says yes.
launch() { # launch PORT COMMAND...
  local port=$1
  shift
  mkdir -p "$state/$name"
  setsid "$@" >>"$state/$name/log" 2>&1 </dev/null &
  echo $! >"$state/$name/pid"
  echo "$port" >"$state/$name/port"
  local deadline=$((SECONDS + start_seconds))
  until answers "$port"; do
    alive || give_up "ended at its start: $(tail -n 5 "$state/$name/log")"
    ((SECONDS < deadline)) || give_up "no answer within $start_seconds s, see $state/$name/log"
    sleep 0.1
  done
}

report() { say "ready on 127.0.0.1:$(cat "$state/$name/port")"; }

end_process() {
  alive || return 0
  local pid deadline=$((SECONDS + stop_seconds))
  pid=$(cat "$state/$name/pid")
  kill -"${stop_signal:-TERM}" "$pid"
  while alive; do
    ((SECONDS < deadline)) || kill -9 "$pid"
    sleep 0.05
  done
  rm -f "$state/$name/pid"
}

# As a power failure would, for the process and all that it started.
crash_process() {
  alive || return 0
  kill -9 -- "-$(cat "$state/$name/pid")"
  while alive; do sleep 0.05; done
  rm -f "$state/$name/pid"
}

# The commands that all scripts have; `install_server` and `start_server PORT` are theirs.
run_command() { # run_command DEFAULT_PORT [COMMAND [PORT]]
  case ${2:-} in
    install) install_server ;;
    start)
      install_server
      alive || start_server "${3:-$1}"
      report
      ;;
    stop) end_process ;;
    crash) crash_process ;;
    ready) alive && answers "$(cat "$state/$name/port")" ;;
    *)
      echo "usage: $(basename "$0") install | start [PORT] | stop | crash | ready" >&2
      exit 2
      ;;
  esac
}
