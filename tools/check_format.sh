#!/usr/bin/env bash
# Checks that every C++ file is formatted as .clang-format says. To put it right: make format
set -euo pipefail
cd "$(dirname "$0")/.."

formatter=.deps/venv/bin/clang-format
if [[ ! -x $formatter ]]; then
  echo "$formatter is not there: run 'make setup' first" >&2
  exit 1
fi
python3 tools/source_files.py | xargs --no-run-if-empty "$formatter" --dry-run -Werror
