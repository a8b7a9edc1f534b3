#!/bin/sh
# Reads a built program's ELF headers and says what it lacks of: position independence, a stack and segments that are not
# both writable and executable, symbols bound before it begins, a table of them that is read-only from then on, no folder
# of libraries but the system's, and stack protectors and fortified calls in our own C; and whether it has ICU's data inside.
# Usage: packaging/check-elf.sh [--debug] PROGRAM [OBJECTS]
# OBJECTS: the folder with the objects of Sources/CLinux, or what was linked of them stays unseen. --debug: a plain build,
# which finds its libraries beside it and lacks what `make release` adds: early binding, stack protectors, fortified calls.
set -eu

is_debug=
if [ "${1:-}" = --debug ]; then
    is_debug=1
    shift
fi
if [ $# -lt 1 ] || [ $# -gt 2 ]; then
    echo "usage: $0 [--debug] PROGRAM [OBJECTS]" >&2
    exit 64
fi
program=$1
status=0
lacks() {
    echo "$program: $1" >&2
    status=1
}

# Asks readelf for a table of a file; without readelf nothing is known, which must not look like a good answer.
table() { LC_ALL=C readelf --wide "$@"; }
header=$(table --file-header "$program")
segments=$(table --program-headers "$program")
dynamic=$(table --dynamic "$program")

has() { printf '%s\n' "$1" | grep -Eq "$2"; }

has "$header" 'Type: +DYN' && has "$dynamic" '\(FLAGS_1\).*PIE' || lacks "is not position independent (link with -pie)"
has "$segments" '^ +GNU_STACK .* RW +0' || lacks "has an executable stack, or says nothing of its stack (link with -z noexecstack)"
! has "$segments" '^ +LOAD .* RWE +0x' || lacks "has a segment that is both writable and executable"
has "$segments" '^ +GNU_RELRO ' || lacks "has no read-only relocations (link with -z relro)"
[ -n "$is_debug" ] || has "$dynamic" '\(BIND_NOW\)|\(FLAGS\).*BIND_NOW|\(FLAGS_1\).*NOW' || lacks "binds its symbols late (link with -z now)"
! has "$dynamic" '\(TEXTREL\)' || lacks "has relocations in its code"
[ -n "$is_debug" ] || ! has "$dynamic" '\((RPATH|RUNPATH)\)' ||
    lacks "looks for libraries in a folder of its own (build with --disable-local-rpath): $(printf '%s\n' "$dynamic" | sed -n '/R.*PATH)/s/.*\[\(.*\)\].*/\1/p')"

# All of Foundation brings it; FoundationEssentials has what is needed.
! grep -aq 'icudt[0-9]' "$program" || lacks "has 34 MB of ICU's data inside (something that it links imports Foundation)"

if [ $# -eq 2 ]; then
    program=$2
    symbols=$(find "$2" -name '*.o' -exec env LC_ALL=C readelf --wide --symbols {} +)
    [ -n "$is_debug" ] || has "$symbols" 'UND __stack_chk_fail$' || lacks "no object has a stack protector (compile with -fstack-protector-strong)"
    [ -n "$is_debug" ] || has "$symbols" 'UND __[a-z]+_chk$' ||
        lacks "no object has a fortified call (compile with -O -D_FORTIFY_SOURCE=3)"
fi
exit $status
