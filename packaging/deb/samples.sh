#!/usr/bin/env bash
# Drops every sample by the hundred into the service, and archives that are encrypted, damaged, nested or try to get out: each
# ends as it does outside the unit, and the journal warns of just those that fail.
# usage: samples.sh FOLDER [COUNT], with the packages that build.sh made; COUNT drops of each sample (500). Needs what try.sh
# needs, python3, zip and 7z.
set -eu

debs=$(realpath "$1")
count=${2:-500}
cd "$(dirname "$0")/../.."
. packaging/deb/system.sh
command -v 7z >/dev/null || skip "there is no 7z here"

shared=$(mktemp -d)
clean_up() { rm -rf "$shared"; }
trap shut_down EXIT
chmod 0755 "$shared"
mkdir "$shared/samples"
cp samples/*.* "$shared/samples"
rm "$shared/samples/README.md"
(
    cd "$shared"
    head -c 30000 /dev/urandom | base64 >letter.txt
    zip -q -P secret samples/encrypted.zip letter.txt
    7z a -psecret -mhe=on samples/encrypted.7z letter.txt >/dev/null
    zip -q inner.zip letter.txt && zip -q middle.zip inner.zip && zip -q samples/nested.zip middle.zip
    tar -czf whole.tar.gz letter.txt && head -c 9000 whole.tar.gz >samples/torn.tar.gz
    python3 - <<'END'
import io, tarfile, zipfile

with zipfile.ZipFile("samples/up.zip", "w") as archive:
    archive.writestr("../../../../tmp/got-out", "x")
for name, entries in {
    "absolute.tar": [("/tmp/got-out", None)],
    "link.tar": [("link", "/tmp"), ("link/got-out", None)],
    "hard.tar": [("passwd", "hard:/etc/passwd")],
}.items():
    with tarfile.open("samples/" + name, "w") as archive:
        for path, target in entries:
            entry = tarfile.TarInfo(path)
            if target is None:
                entry.size = 1
            else:
                is_hard = target.startswith("hard:")
                entry.type = tarfile.LNKTYPE if is_hard else tarfile.SYMTYPE
                entry.linkname = target.removeprefix("hard:")
            archive.addfile(entry, io.BytesIO(b"x"))
END
)
kinds=$(find "$shared/samples" -type f | wc -l)

boot --bind-ro="$shared:/shared"
inside "dpkg -i $deb" >"$work/out" 2>&1 || fail "$(cat "$work/out")"

# usage: pipeline NAME FOLDER-OF-ITS-FILE
pipeline() {
    inside "mkdir -p $2 && cat >$2/$1.yaml" <<END
inbox: /srv/dropmill/$1/inbox
processed: /srv/dropmill/$1/processed
failed: /srv/dropmill/$1/failed
ready: { quiet: 50ms }
stages:
  - unpack: { require_sandbox: true, nested: 2 }
  - move: { to: "/srv/dropmill/$1/output/{name}" }
END
}

# What became of each sample, without the drop's number: why it failed, or the digests of what came out of it.
outcomes() {
    inside "cd /srv/dropmill/$1 && grep -H '\"code\" :' failed/*.error.json; find output -type f -exec sha256sum {} +" |
        sed -E 's|^failed/([0-9]*_)?(.*)\.error\.json:.*: "(.*)",|\2 failed \3|; s|^([0-9a-f]*)  output/(.*)|\2 has \1|; s#(^|/)[0-9]+_#\1#g' |
        sort | uniq -c | sed 's/^ *//'
}
kinds_in() { sed -E 's|^[0-9]* ([^ /]*).*|\1|' "$1" | sort -u | wc -l; }

step "each of $kinds kinds, outside the unit"
pipeline plain /tmp/plain
inside 'install -d -o dropmill -g dropmill /srv/dropmill/plain /srv/dropmill/plain/inbox && install -d -m 0700 -o dropmill -g dropmill /tmp/plain/state
    install -o dropmill -g dropmill /shared/samples/* /srv/dropmill/plain/inbox/
    setpriv --reuid=dropmill --regid=dropmill --init-groups dropmill run --once --state-dir /tmp/plain/state /tmp/plain/plain.yaml' \
    >"$work/out" 2>&1 || [ $? = 1 ] || fail "$(cat "$work/out")"
outcomes plain >"$work/plain"
[ "$(kinds_in "$work/plain")" = "$kinds" ] || fail "$(cat "$work/plain" "$work/out")"

step "$count of each in the service"
pipeline unit /etc/dropmill/pipelines
inside 'systemctl reload dropmill' || fail "reload"
pid=$(process)
inside "install -d /srv/dropmill/.load && cd /shared/samples && for name in *; do
    for number in \$(seq $count); do cp \$name /srv/dropmill/.load/\${number}_\$name; done; done
    chown -R dropmill: /srv/dropmill/.load && cd /srv/dropmill/.load && find . -type f -exec mv -t ../unit/inbox {} +"
through() { [ "$(inside 'cd /srv/dropmill/unit && ls failed output 2>/dev/null | grep -v "error.json" | grep -c _')" = $((kinds * count)) ]; }
for _ in 1 2 3 4 5; do if await through; then break; fi; done
through || fail "not through: $(inside 'dropmill status')"
outcomes unit >"$work/unit"
diff <(sed "s/^1 /$count /" "$work/plain") "$work/unit" >"$work/out" || fail "other outcomes: $(cat "$work/out")"
[ "$(process)" = "$pid" ] || fail "it was started again"
! holds 'find / /tmp /var/tmp /dev/shm -xdev -name got-out | grep -q .' || fail "something got out"

step "what the journal says"
# `reload` answers on its standard output.
strangers=$(inside 'journalctl --no-pager -o cat _SYSTEMD_UNIT=dropmill.service _TRANSPORT=stdout | grep -vx "unit: added"' || true)
[ -z "$strangers" ] || fail "not its own: $strangers"
sed -n 's/^\([0-9]*\) [^ ]* failed /\1 /p' "$work/unit" | awk '{ sum[$2] += $1 } END { for (code in sum) print sum[code], code }' |
    sort >"$work/failures"
inside 'journalctl --no-pager -u dropmill -p warning -o cat --output-fields=DROPMILL_CODE' | sort | uniq -c |
    sed 's/^ *//' | sort >"$work/warnings"
diff "$work/failures" "$work/warnings" >"$work/out" || fail "other warnings than failures: $(cat "$work/out")"
[ "$(inside 'journalctl --no-pager -u dropmill -p warning -o json' | wc -l)" = "$(awk '{ sum += $1 } END { print sum }' "$work/failures")" ] ||
    fail "warnings of something else"
echo "$((kinds * count)) drops of $kinds kinds ended as they do outside the unit."
