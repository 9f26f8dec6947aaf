#!/usr/bin/env bash
# Checks that every C++ file in src, tests and bench is formatted as .clang-format says.
# To put it right: .deps/venv/bin/clang-format -i FILE...
set -euo pipefail
cd "$(dirname "$0")/.."

formatter=.deps/venv/bin/clang-format
if [[ ! -x $formatter ]]; then
  echo "$formatter is not there: run 'make setup' first" >&2
  exit 1
fi
folders=()
for folder in src tests bench; do
  [[ -d $folder ]] && folders+=("$folder")
done
find "${folders[@]}" \( -name '*.h' -o -name '*.cc' \) -print0 |
  xargs -0 --no-run-if-empty "$formatter" --dry-run -Werror
