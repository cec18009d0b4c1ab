#!/usr/bin/env bash
# `sarrus view`: who may ask what, requests and frames that are cut and mangled, clients that do not read or do not finish, several sessions, files that change, results,
# the end. With a WebSocket client of its own, by python3.
cd "$(dirname "$0")/.." || exit 1
sarrus=${SARRUS:-build/test/sarrus}
command -v python3 > /dev/null || { echo "skipped view: python3 is not installed"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp models/pendulum.xml "$folder/pendulum.xml"
if ! "$sarrus" view "$folder/pendulum.xml" --port 70000 2>&1 | grep -q 'must be a whole number'; then echo "FAILED view: --port 70000 is not refused"; exit 1; fi
said=$(timeout 20 "$sarrus" view "$folder/missing.xml" --no-open 2>&1)
case $said in
  *"no front end"*) echo "skipped view: the front end is not built"; exit 77 ;;
esac
said=$(timeout 2 "$sarrus" view "$folder/pendulum.xml" --no-open 2>&1)
case $said in
  *"needs civetweb"*) echo "skipped view: libcivetweb-dev is not installed"; exit 77 ;;
esac
exec python3 tests/view.py "$sarrus" "$folder"
