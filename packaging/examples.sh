#!/bin/sh
# Builds and runs every package below Examples, as a stranger who has this one as a dependency, and compares what each
# prints with its expected.txt. Those that need FolderWatch alone are built where no C library is installed.
# Usage: packaging/examples.sh [NAME…], all without a name.
set -eu
cd "$(dirname "$0")/.."

swift=${SWIFT:-swift}
output=$(mktemp)
layer=$(mktemp -d)
trap 'rm -rf "$output" "$layer"' EXIT

# Runs a command as if the C libraries' packages were not installed: in a mount namespace of its own, with an overlay of
# /usr in which their files are removed.
without_libraries() {
    libraries=$(sed -n 's/^build="\(.*\)"$/\1/p' packaging/install-build-deps.sh | tr ' ' '\n' | grep '^lib.*-dev$' | grep -v libc6)
    # shellcheck disable=SC2016,SC2086  # for the other shell; a list of words
    unshare --mount sh -euc '
        layer=$1; libraries=$2; shift 2
        mount -t tmpfs layer "$layer"
        mkdir "$layer/up" "$layer/work"
        mount -t overlay overlay -o "lowerdir=/usr,upperdir=$layer/up,workdir=$layer/work" /usr
        dpkg -L $libraries | while read -r file; do [ -d "$file" ] || rm -f "$file"; done
        ! [ -e /usr/include/archive.h ]
        "$@"' sh "$layer" "$libraries" "$@"
}

can_hide=
if without_libraries true 2>/dev/null; then can_hide=1; fi

status=0
# Backwards: those that need least come first, when nothing is built that they could profit by.
[ $# -gt 0 ] || set -- $(ls -r Examples)
for name; do
    folder=Examples/$name
    [ -f "$folder/Package.swift" ] || continue
    as=
    if ! grep -q '"Dropmill' "$folder/Package.swift"; then
        if [ -n "$can_hide" ]; then
            as=without_libraries
        else
            echo "$folder: not tried without C libraries: an overlay of /usr needs root and unshare(1)" >&2
        fi
    fi
    # One folder serves all that depend on this package, so that it is built once; a plan that SwiftPM keeps there would be
    # taken for another's.
    $as "$swift" build --package-path "$folder" --scratch-path .build-outside --disable-build-manifest-caching \
        --product "$name"
    if ! timeout 120 ".build-outside/debug/$name" >"$output" || ! diff -u "$folder/expected.txt" "$output"; then
        echo "$folder: it failed, or printed something else than expected.txt" >&2
        status=1
    fi
done
exit $status
