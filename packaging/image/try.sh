#!/usr/bin/env bash
# Unpacks the image and runs it as a runtime would: as its user, with a root that cannot be written to, and its volumes.
# usage: try.sh FOLDER, with the image that build.sh made. Needs root.
set -eu

folder=$(realpath "$1")
cd "$(dirname "$0")/../.."
. packaging/common.sh
version=$(cat VERSION)
image=$folder/dropmill_${version}_$(dpkg --print-architecture).oci.tar

work=$(mktemp -d)
container=
end() {
    [ -z "$container" ] || kill -9 "$container" 2>/dev/null || true
    wait 2>/dev/null || true
    rm -rf "$work"
}
trap end EXIT
fail() {
    echo "FAILED: $1" >&2
    cat "$work/log" >&2 || true
    exit 1
}

mkdir "$work/layout" "$work/srv" "$work/state" "$work/pipelines"
tar --extract --file "$image" --directory "$work/layout"
umoci unpack --image "$work/layout:$version" "$work/bundle"
grep -q '"Healthcheck"' -r "$work/layout/blobs" || fail "no health check"
chown 65532:65532 "$work/srv" "$work/state"
chmod 0755 "$work"
cat >"$work/pipelines/scans.yaml" <<END
inbox: /srv/inbox
processed: /srv/processed
failed: /srv/failed
stages: [{ unpack: { require_sandbox: true } }, checksum, { run: { command: [sh, -c, "sleep 300 & exit 0"] } }, { move: { to: "/srv/output/{stem}" } }]
END

# What the image says is to be run.
readarray -t words < <(python3 -c '
import json, sys
process = json.load(open(sys.argv[1]))["process"]
print(*process["args"], sep="\n")' "$work/bundle/config.json")
[ "${words[*]}" = "/usr/bin/dropmill run --allow-none --log-format json --state-dir /var/lib/dropmill /etc/dropmill/pipelines" ] ||
    fail "it runs: ${words[*]}"
systemd-nspawn --quiet --directory="$work/bundle/rootfs" --read-only --resolv-conf=off --timezone=off --register=no --keep-unit --console=pipe --user=dropmill \
    --machine="dropmill-image-$$" --system-call-filter="landlock_create_ruleset landlock_add_rule landlock_restrict_self" \
    --bind="$work/srv:/srv" --bind="$work/state:/var/lib/dropmill" --bind-ro="$work/pipelines:/etc/dropmill/pipelines" \
    "${words[@]}" >"$work/log" 2>&1 &
container=$!
daemon() { pgrep --parent "$container" | head -n 1; }
# As the health check does.
inside() { nsenter --target "$(daemon)" --all --setuid 65532 --setgid 65532 -- "$@"; }
await test -S "$work/state/control.sock" || fail "not up"
inside /usr/bin/dropmill health --state-dir /var/lib/dropmill >"$work/health" || fail "not well: $(cat "$work/health")"

cp samples/photos.zip samples/invoice.pdf "$work/srv/inbox/"
await test -e "$work/srv/output/photos" -a -e "$work/srv/output/invoice" || fail "not processed"
grep -q '"event":"processed"' "$work/log" || fail "no log in JSON"
[ "$(inside cat /proc/1/comm)" = dropmill ] || fail "it is not PID 1"
# What programs leave behind ends with their stage, and nothing stays unreaped.
await test -z "$(ps --no-headers -o stat --ppid "$(daemon)" | grep '^Z' || true)" || fail "unreaped children"
kill -TERM "$(daemon)"
await test ! -d "/proc/$container" -o -z "$(daemon)" || fail "SIGTERM does not end it"
wait "$container" || fail "it ended with status $?"
container=
echo "The image does what it should."
