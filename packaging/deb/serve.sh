#!/usr/bin/env bash
# Tries the units of the page: what they take away, who gets in, and that the daemon and they come and go as they like.
# usage: serve.sh FOLDER, with the packages that build.sh made. Needs what try.sh needs, and curl.
set -eu

debs=$(realpath "$1")
cd "$(dirname "$0")/../.."
. packaging/deb/system.sh
command -v curl >/dev/null || skip "there is no curl here"
boot
inside "dpkg -i $deb" >"$work/out" 2>&1 || fail "$(cat "$work/out")"

web=/proc/$first/root/run/dropmill/web.sock
# usage: ask PATH [OPTION of curl]…
ask() { curl --silent --show-error --max-time 20 --unix-socket "$web" "http://localhost$1" "${@:2}"; }
says() { ask "$1" | grep -q -- "$2"; }

step "it is there, and is not served unless somebody asks for it"
! holds 'systemctl is-enabled dropmill-serve.socket' || fail "enabled"
! holds 'systemctl is-active dropmill-serve.service' || fail "active"
[ "$(inside 'id -Gn dropmill')" = "dropmill dropmill-serve" ] || fail "groups: $(inside 'id -Gn dropmill')"

step "a page without rights at the daemon says what is missing"
inside 'systemctl enable --now dropmill-serve.socket' 2>"$work/out" || fail "$(cat "$work/out")"
[ "$(inside 'stat -c "%a %U:%G" /run/dropmill/web.sock')" = "660 dropmill-serve:dropmill-serve" ] || fail "rights of the socket"
await says /api/v1/overview "control_group" || fail "$(ask /api/v1/overview)"

step "as a member of the control group it shows, and changes"
inside 'sed -i "s/^# control_group/control_group/" /etc/dropmill/dropmill.yaml &&
    sed -e "s/- unpack.*/- checksum: {}/" -e "\$aupload: true" /etc/dropmill/pipelines/example.yaml.disabled >/etc/dropmill/pipelines/scans.yaml &&
    systemctl reload dropmill' || fail "reload"
await says /api/v1/overview '"name":"scans"' || fail "$(ask /api/v1/overview)"
pages() { ask / | grep -qi '<!doctype html>'; }
pages || fail "no page"
ask /api/v1/pipelines/scans/hold --json '{"kind":"pause","reason":"a try"}' -H "Origin: http://localhost" >"$work/out"
await holds 'dropmill status | grep -q "a try"' || fail "not paused: $(cat "$work/out")"
ask /api/v1/pipelines/scans/hold -X DELETE -H "Origin: http://localhost" >"$work/out"
inside 'dropmill audit' >"$work/out"
grep -q "pause" "$work/out" || fail "$(cat "$work/out")"

step "a file goes in, by a server that may open no folder"
head -c 5000000 /dev/urandom >"$work/cover.bin"
ask /api/v1/pipelines/scans/drops/cover.bin -T "$work/cover.bin" -H "Origin: http://localhost" >"$work/out"
await holds '[ "$(dropmill jobs --state processed | grep -c cover.bin)" = 1 ]' || fail "$(cat "$work/out")"
inside 'cat "$(find /srv/dropmill/scans/output -name cover.bin | head -n 1)"' | cmp - "$work/cover.bin" || fail "not what was sent"
server=$(inside 'systemctl show -p MainPID --value dropmill-serve')
mapped() { inside "nsenter -t $server -m setpriv --reuid=dropmill-serve --regid=dropmill-serve --init-groups sh -c '$1'" >/dev/null 2>&1; }
! mapped 'ls /srv/dropmill' || fail "it sees /srv"
! mapped 'cat /etc/dropmill/pipelines/scans.yaml' || fail "it sees pipelines"
! mapped 'cat /var/lib/dropmill/journal*' || fail "it sees the journal"

step "the daemon comes and goes"
inside 'systemctl stop dropmill'
await says /api/v1/overview "daemon.down" || fail "$(ask /api/v1/overview)"
says /healthz "" && [ "$(ask /readyz -o /dev/null -w '%{http_code}')" = 503 ] || fail "ready without a daemon"
inside 'systemctl start dropmill'
await says /api/v1/overview '"name":"scans"' || fail "not back"

step "the server is killed, and comes back for who asks"
inside 'systemctl kill -s KILL --kill-whom=main dropmill-serve'
ask /healthz >"$work/out" || fail "$(cat "$work/out")"

step "how exposed it is"
level=$(inside "systemd-analyze security --no-pager dropmill-serve | sed -n 's/.*exposure level for dropmill-serve.service: \\([0-9.]*\\).*/\\1/p'")
echo "  $level"
awk "BEGIN { exit !($level < 1.5) }" || fail "exposed: $level"

step "tokens are given out by root, and are the server's"
# The container has the host's network.
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
listen() {
    inside "mkdir -p /etc/systemd/system/dropmill-serve.socket.d && printf '[Socket]\nListenStream=\nListenStream=$1\n' \
        >/etc/systemd/system/dropmill-serve.socket.d/own.conf && systemctl daemon-reload &&
        systemctl stop dropmill-serve.service dropmill-serve.socket && systemctl start dropmill-serve.socket"
}
listen "127.0.0.1:$port" 2>"$work/out" || fail "$(cat "$work/out")"
token=$(inside 'dropmill token add desk --role look')
[ "$(inside 'stat -c "%a %U" /var/lib/dropmill-serve/tokens.json')" = "600 dropmill-serve" ] || fail "$(inside 'ls -l /var/lib/dropmill-serve')"
status() { curl --silent --max-time 20 -o /dev/null -w '%{http_code}' "http://127.0.0.1:$port$1" "${@:2}"; }
[ "$(status /api/v1/overview)" = 401 ] || fail "without a token: $(status /api/v1/overview)"
[ "$(status /api/v1/overview -H "Authorization: Bearer $token")" = 200 ] || fail "with a token"
[ "$(status /api/v1/reload -X POST -H "Authorization: Bearer $token")" = 403 ] || fail "who looks may change"
inside 'dropmill token revoke desk'
[ "$(status /api/v1/overview -H "Authorization: Bearer $token")" = 401 ] || fail "after it was revoked"

step "a socket that others can reach is refused without TLS before it"
listen "0.0.0.0:$port" 2>"$work/out" || fail "$(cat "$work/out")"
curl --silent --max-time 5 "http://127.0.0.1:$port/healthz" >/dev/null 2>&1 || true
await holds 'journalctl --no-pager -o cat -u dropmill-serve | grep -q "tls-behind-proxy"' || fail "not refused"

step "removal and purge take it along"
inside 'systemctl stop dropmill-serve.socket; rm -r /etc/systemd/system/dropmill-serve.socket.d; dpkg -P dropmill' >"$work/out" 2>&1 ||
    fail "$(cat "$work/out")"
! holds 'systemctl is-active dropmill-serve.socket' || fail "the socket is left"
! holds '[ -e /var/lib/dropmill-serve ]' || fail "tokens are left"
echo "The page's units do what they should."
