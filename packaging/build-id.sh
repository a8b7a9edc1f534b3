#!/bin/bash
# Gives a program a build id that is its contents' alone, so that the same sources give the same bytes wherever they are built.
# usage: build-id.sh PROGRAM, which the linker gave some id.
set -euo pipefail

program=$1
# Its time stays, or it would be linked anew by the next build.
stamp=$(mktemp)
trap 'rm -f "$stamp"' EXIT
touch -r "$program" "$stamp"

# In the file itself: objcopy(1) would lay it out anew. usage: place SECTION, its offset and size in the file.
place() {
    readelf --section-headers --wide "$program" | sed 's/^ *\[ *[0-9]*\] *//' |
        awk -v name="$1" '$1 == name { print $4, $5 }' | { read -r offset size && echo "$((16#$offset)) $((16#$size))"; }
}
# usage: fill OFFSET SIZE, with zeros.
fill() { head -c "$2" /dev/zero | dd of="$program" bs=1M seek="$1" oflag=seek_bytes conv=notrunc status=none; }

# Swift's hashes of how modules were compiled have folders in them, and nothing reads them in a program.
if read -r offset size < <(place .swift_modhash); then fill "$offset" "$size"; fi
# A note begins with its lengths, type and owner.
read -r offset size < <(place .note.gnu.build-id) && [ "$size" -eq 36 ] || { echo "error: $program has no build id of SHA-1" >&2; exit 1; }
fill $((offset + 16)) 20
id=$(sha1sum <"$program" | cut -c 1-40)
printf '%b' "$(sed 's/../\\x&/g' <<<"$id")" | dd of="$program" bs=20 seek=$((offset + 16)) oflag=seek_bytes conv=notrunc status=none
touch -r "$stamp" "$program"
