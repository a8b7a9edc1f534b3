#!/bin/sh
# Feeds the reader of archives what nobody would make (libFuzzer, which Swift's toolchain brings along), for so many seconds:
# `packaging/fuzz.sh [SECONDS]`. What it finds lies in Tests/fuzz/corpus afterwards, to be kept.
set -eu
cd "$(dirname "$0")/.."

seconds=${1:-600}
DROPMILL_FUZZ=1 ${SWIFT:-swift} build -c release --product fuzz-archive --scratch-path .build-fuzz

work=$(mktemp -d)
trap 'rm -rf "$work" /dev/shm/dropmill-fuzz.*' EXIT
mkdir -p "$work/seeds" "$work/in/d" "$work/new"
echo hello >"$work/in/d/a"
head -c 3000 /dev/urandom >"$work/in/b"
ln -s d/a "$work/in/link"
ln "$work/in/b" "$work/in/hard"
(
    cd "$work/in"
    for format in ustar pax gnutar newc cpio zip 7zip; do bsdtar --format=$format -cf "../seeds/$format" .; done
    for filter in gzip bzip2 xz zstd lz4 lzma compress; do bsdtar --format=ustar --$filter -cf "../seeds/tar.$filter" .; done
    bsdtar --format=zip --options zip:compression=store -cf ../seeds/stored .
    bsdtar --format=zip --options zip:encryption=traditional --passphrase p -cf ../seeds/encrypted .
    gzip -c b >../seeds/lone.gz
    ar rc ../seeds/ar b
)
.build-fuzz/release/fuzz-archive -max_total_time="$seconds" -timeout=20 -max_len=16384 -rss_limit_mb=3000 \
    -artifact_prefix=Tests/fuzz/corpus/ -print_final_stats=1 "$work/new" Tests/fuzz/corpus "$work/seeds"
