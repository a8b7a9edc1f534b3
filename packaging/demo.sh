#!/usr/bin/env bash
# Shows what Dropmill does: puts the samples into an empty inbox, runs the quickstart pipeline once, and lists what
# became of each. Usage: packaging/demo.sh BINARY
set -euo pipefail

binary=$(realpath "$1")
cd "$(dirname "$0")/.."

# What the samples are made to fail with; samples/README.md says why.
expected="damaged.zip escape.tar"

rm -rf samples/inbox samples/processed samples/failed samples/output samples/.dropmill samples/.dropmill-state
mkdir samples/inbox
find samples -maxdepth 1 -type f ! -name README.md ! -name '.*' -exec cp -p {} samples/inbox/ \;

echo "In the inbox:"
(cd samples && ls inbox | sed 's/^/  /')
echo
echo "\$ dropmill run --once pipelines/quickstart.yaml"
status=0
"$binary" run --once pipelines/quickstart.yaml --state-dir samples/.dropmill-state --log-format text || status=$?

show() {
    echo
    echo "samples/$1"
    if [ -d "samples/$1" ]; then (cd "samples/$1" && find . -mindepth 1 | LC_ALL=C sort | sed 's|^\./|  |'); fi
}
show processed
show output
show failed

echo
echo "Why they failed:"
find samples/failed -name '*.error.json' 2>/dev/null | LC_ALL=C sort | while read -r report; do
    echo "  $(basename "$report" .error.json): $(sed -n 's/.*"summary" *: *"\(\([^"\\]\|\\.\)*\)".*/\1/p' "$report" | sed 's|\\/|/|g')"
done

failed=$(find samples/failed -type f ! -name '*.error.json' -printf '%f\n' 2>/dev/null | LC_ALL=C sort | xargs)
left=$(find samples/inbox -mindepth 1 -printf '%f\n' | LC_ALL=C sort | xargs)
echo
if [ -n "$left" ]; then
    echo "demo: left in the inbox: $left" >&2
    exit 1
fi
# Exit status 1 says that something failed: two samples are meant to.
if [ "$status" -ne 1 ] || [ "$failed" != "$expected" ]; then
    echo "demo: expected exit status 1 and failed: $expected; got $status and: ${failed:-none}" >&2
    exit 1
fi
echo "As expected: two bad archives failed with their reasons, all else was processed."
