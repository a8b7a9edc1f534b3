# shellcheck shell=bash
# What the scripts that make packages, and those that try them, begin with; read by them, from the checkout's top.
set -euo pipefail
umask 022
export LC_ALL=C TZ=UTC

# The same commit gives the same bytes.
export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y VERSION)}"

# Waits until a command succeeds, for a minute.
await() {
    local end=$((SECONDS + 60))
    until "$@"; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.1
    done
}
