#!/usr/bin/env bash
# Installs what the build and the tests need, and nothing that is there already.
# Debian packages need root (else the one line to run is printed); Python packages live in .deps/venv.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(
  g++ cmake ninja-build ccache mold pkg-config git ca-certificates
  clang-19 libclang-rt-19-dev llvm-19
  python3 python3-venv
  libgtest-dev libgmock-dev libfmt-dev libspdlog-dev libcli11-dev libyaml-cpp-dev
  nlohmann-json3-dev libsqlite3-dev zlib1g-dev libcurl4-openssl-dev libssl-dev libpugixml-dev libpq-dev
  libboost-dev
)

missing=()
for package in "${packages[@]}"; do
  [[ "$(dpkg-query -W -f='${Status}' "$package" 2>/dev/null)" == "install ok installed" ]] ||
    missing+=("$package")
done
if ((${#missing[@]} > 0)); then
  if [[ $(id -u) -ne 0 ]]; then
    echo "setup: run this once, then again 'make setup':" >&2
    echo "  sudo apt-get update && sudo apt-get install -y --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
  echo "setup: installing ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

venv=.deps/venv
stamp=.deps/requirements.stamp
if ! cmp -s tools/requirements.txt "$stamp"; then
  echo "setup: installing Python packages into $venv"
  mkdir -p .deps
  [[ -x $venv/bin/pip ]] || python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check -r tools/requirements.txt
  # The wheel's libraries leak their bundled OpenSSL; the copies that Firn links against do not.
  "$venv/bin/python" tools/hide_symbols.py
  cp tools/requirements.txt "$stamp"
fi
