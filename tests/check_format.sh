#!/usr/bin/env bash
# Every C file has the layout of .clang-format (version 14: other versions differ in detail).
cd "$(dirname "$0")/.." || exit 1

if files=$(tools/format --check); then
  echo "ok format"
else
  echo "FAILED format: run tools/format for" $files
  exit 1
fi
