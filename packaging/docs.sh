#!/bin/sh
# Makes the pages of the libraries, as .build/docs/NAME.doccarchive; warnings are errors, and so is code in them that does
# not compile. Usage: packaging/docs.sh [NAME…], all without a name.
set -eu
cd "$(dirname "$0")/.."

swift=${SWIFT:-swift}
docc=$(dirname "$(realpath "$(command -v "$swift")")")/docc
graphs=$(mktemp -d)
trap 'rm -rf "$graphs"' EXIT

# Builds the libraries, too.
packaging/compile-docs.py

maps=
for map in Sources/C*/module.modulemap .build-outside/debug/*.build/module.modulemap \
    .build-outside/checkouts/*/Sources/*/module.modulemap .build-outside/checkouts/*/Sources/*/include/module.modulemap; do
    [ ! -e "$map" ] || maps="$maps -Xcc -fmodule-map-file=$map"
done

[ $# -gt 0 ] || set -- $(basename -s .docc Sources/*/*.docc)
for name; do
    # What a library hands on from modules below it is its own to who imports it. (That is why swift-docc-plugin does not do.)
    exported=$(sed -n 's/^@_exported public import \([A-Za-z]*\)$/\1/p' "Sources/$name/Exports.swift" | paste -sd, -)
    mkdir "$graphs/$name"
    # shellcheck disable=SC2086  # a list of words
    "$swift" symbolgraph-extract -module-name "$name" -experimental-allowed-reexported-modules="$exported" \
        -minimum-access-level public -skip-synthesized-members -target "$(uname -m)-unknown-linux-gnu" \
        -I .build-outside/debug/Modules $maps -output-dir "$graphs/$name"
    mkdir -p .build/docs
    "$docc" convert "Sources/$name/$name.docc" --additional-symbol-graph-dir "$graphs/$name" \
        --fallback-display-name "$name" --fallback-bundle-identifier "dropmill.$name" \
        --output-path ".build/docs/$name.doccarchive" --warnings-as-errors
done
