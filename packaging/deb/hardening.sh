#!/usr/bin/env bash
# Tries each line of the unit that takes something away on its own, then all together: archives are unpacked in a sandbox,
# programs run, also confined, files are sent and scanned, and open writers are seen.
# usage: hardening.sh FOLDER, with the packages that build.sh made. Needs what try.sh needs, clamd and python3.
set -eu

debs=$(realpath "$1")
cd "$(dirname "$0")/../.."
. packaging/deb/system.sh
command -v clamd >/dev/null || [ -x /usr/sbin/clamd ] || skip "there is no clamd here"

# A clamd that knows one signature, and a server that takes what it is sent.
shared=$(mktemp -d)
servers=()
clean_up() {
    for server in "${servers[@]}"; do kill "$server" 2>/dev/null || true; done
    wait "${servers[@]}" 2>/dev/null || true
    rm -rf "$shared"
}
trap shut_down EXIT
chmod 0755 "$shared"
mkdir "$shared/signatures"
printf '%s:0:0:%s\n' Eicar-Test-Signature "$(printf '%s' 'X5O!P%@AP[4\PZX54(P^)7CC)7}$EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*' | od -An -tx1 | tr -d ' \n')" \
    >"$shared/signatures/test.ndb"
cat >"$shared/clamd.conf" <<END
LocalSocket $shared/clamd
LocalSocketMode 666
DatabaseDirectory $shared/signatures
Foreground yes
LogFile $shared/clamd.log
END
clamd --config-file="$shared/clamd.conf" >"$shared/clamd.out" 2>&1 &
servers+=($!)
python3 -u - "$shared/port" <<'END' &
import http.server, sys


class Handler(http.server.BaseHTTPRequestHandler):
    def do_PUT(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(201)
        self.end_headers()

    def log_message(self, *arguments):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
open(sys.argv[1], "w").write(str(server.server_port))
server.serve_forever()
END
servers+=($!)
await test -S "$shared/clamd" || { cat "$shared/clamd.out" >&2; skip "clamd does not start"; }
await test -s "$shared/port" || skip "no server starts"
port=$(cat "$shared/port")

boot --bind-ro="$shared:/shared"
inside "dpkg -i $deb" >"$work/out" 2>&1 || fail "$(cat "$work/out")"

pipeline() {
    inside "cat >/etc/dropmill/pipelines/$1.yaml" <<END
inbox: /srv/dropmill/$1/in
processed: /srv/dropmill/$1/done
failed: /srv/dropmill/$1/failed
ready: { quiet: 50ms }
stages: [{ $2 }]
END
}
pipeline archives 'unpack: { require: true, require_sandbox: true } }, { move: { to: "/srv/dropmill/archives/out/{job}" }'
pipeline programs 'run: { command: [cp, "{file}", copy] }'
pipeline confined 'run: { command: [cp, "{file}", copy], confine: true }'
pipeline sent "http: { url: \"http://127.0.0.1:$port/{name}\" }"
pipeline scanned 'scan: { socket: /shared/clamd }'
pipeline written 'checksum: {}'
inside 'dropmill check' >"$work/out" 2>&1 || fail "$(cat "$work/out")"

cat >"$shared/check.sh" <<'END'
# What has to work, within a minute; what does not is named.
cd /srv/dropmill
rm -rf */in/* */done/* */failed/*
end=$(($(date +%s) + 60))
by_then() { until "$@"; do [ "$(date +%s)" -lt $end ] || return 1; sleep 0.1; done; }
seen() { dropmill status --json | grep -q '"why":"open-writer"'; }
exec 3>>written/in/held
echo x >&3
cp /samples/photos.zip /samples/data.7z archives/in/
for name in programs confined sent scanned; do echo x >$name/in/file; done
printf '%s' 'X5O!P%@AP[4\PZX54(P^)7CC)7}$EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*' >scanned/in/bad
by_then seen || echo "an open writer is not seen"
exec 3>&-
for file in archives/done/photos.zip archives/done/data.7z programs/done/file confined/done/file sent/done/file \
    scanned/done/file scanned/failed/bad written/done/held; do
    by_then test -e $file || echo "$file is missing: $(cat $(dirname $(dirname $file))/failed/*.json 2>/dev/null | tr -d '\n')"
done
grep -q scan.infected scanned/failed/bad.error.json || echo "the scan found nothing"
END

# The unit without what takes something away, and what that is; lines of one key, and those that only go together, as one.
unit=/lib/systemd/system/dropmill.service
inside "sed -n '/^UMask=/q; p' $unit; echo AmbientCapabilities=CAP_LEASE" >"$work/bare"
readarray -t takes < <(inside "sed -n '/^UMask=/,\$p' $unit" |
    sed -n '/^\[Install\]/q; /^AmbientCapabilities=/d; /^[A-Za-z]*=/p' |
    awk -F= '{ key = $1 == "ReadWritePaths" ? "ProtectSystem" : $1 == "SystemCallErrorNumber" ? "SystemCallFilter" : $1; if (key in at) lines[at[key]] = lines[at[key]] "\\n" $0; else { at[key] = ++n; lines[n] = $0 } } END { for (i = 1; i <= n; i++) print lines[i] }')
[ "${#takes[@]}" -ge 20 ] || fail "only ${#takes[@]} lines found"

# usage: try LINES
try() {
    { cat "$work/bare"; printf '%b\n' "$1"; } | inside 'cat >/etc/systemd/system/dropmill.service'
    inside 'systemctl daemon-reload; systemctl restart dropmill' >"$work/out" 2>&1 || { cat "$work/out"; return; }
    inside 'sh /shared/check.sh' 2>&1
}

bad=0
for lines in "" "${takes[@]}" "$(printf '%s\\n' "${takes[@]}")" RestrictSUIDSGID=yes; do
    name=${lines//\\n/ }
    [ -n "$name" ] || name="none"
    [ "${#name}" -lt 100 ] || name="${name:0:90}…"
    problems=$(try "$lines")
    if [ -z "$problems" ]; then
        echo "  works   $name"
    else
        bad=$((bad + 1))
        printf '  FAILS   %s\n%s\n' "$name" "$problems"
    fi
done
[ "$bad" = 0 ] || fail "$bad of these take away what is needed"
echo "No line of the unit takes away what stages need, on its own or with all others."
