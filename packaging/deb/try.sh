#!/usr/bin/env bash
# Tries the packages as an administrator would, below a real systemd: installs, works, is killed, upgraded, removed, purged.
# usage: try.sh FOLDER, with the packages that build.sh made. Needs root, debootstrap and systemd-nspawn; the tree that it
# boots is made once, and kept in FOLDER.
set -eu

debs=$(realpath "$1")
cd "$(dirname "$0")/../.."
. packaging/common.sh
version=$(cat VERSION)-1
arch=$(dpkg --print-architecture)

export PATH=$PATH:/usr/sbin

# Where it cannot be tried that is said, and is no failure.
skip() {
    echo "skipped: $1" >&2
    exit 0
}
for program in systemd-nspawn debootstrap nsenter; do
    command -v "$program" >/dev/null || skip "there is no $program here"
done
[ "$(id -u)" -eq 0 ] || skip "only root can boot a system"

tree=$debs/tree
if [ ! -d "$tree" ]; then
    rm -rf "$tree.new"
    depends=$(dpkg-deb --field "$debs/dropmill_${version}_$arch.deb" Depends | sed 's/([^)]*)//g; s/ //g')
    debootstrap --variant=minbase --include="systemd,dbus,init-system-helpers,$depends" \
        "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$tree.new" >"$debs/debootstrap.log" ||
        skip "debootstrap makes no tree ($debs/debootstrap.log)"
    mv "$tree.new" "$tree"
fi

work=$(mktemp -d)
name=dropmill-package-$$
systemd-nspawn --directory="$tree" --volatile=overlay --boot --register=no --keep-unit --console=pipe --machine="$name" \
    --system-call-filter="landlock_create_ruleset landlock_add_rule landlock_restrict_self" \
    --bind-ro="$debs:/debs" --bind-ro="$PWD/samples:/samples" >"$work/console" 2>&1 &
container=$!
first=
end() {
    # What is booted outlives what booted it.
    [ -z "$first" ] || kill -9 "$first" 2>/dev/null || true
    kill -9 "$container" 2>/dev/null || true
    wait "$container" 2>/dev/null || true
    rm -rf "$work"
}
trap end EXIT

fail() {
    echo "FAILED: $1" >&2
    inside 'systemctl status --no-pager --full --lines=30 dropmill; journalctl --no-pager -n 40 -o short' >&2 || true
    exit 1
}

booted() {
    first=$(cat "/proc/$container/task/$container/children" 2>/dev/null) && first=${first%% *} && [ -n "$first" ] &&
        nsenter -t "$first" -a /bin/sh -c 'case $(systemctl is-system-running) in running | degraded) ;; *) exit 1 ;; esac' 2>/dev/null
}
inside() { nsenter -t "$first" -a /bin/sh -c "$1"; }
process() { inside 'systemctl show -p MainPID --value dropmill'; }
holds() { inside "$1" >/dev/null 2>&1; }
step() { echo "· $1"; }

await booted || { cat "$work/console" >&2; skip "this machine boots no system"; }
deb=/debs/dropmill_${version}_$arch.deb
before=$(inside 'find / -xdev | grep -Ev "^/(proc|sys|run|tmp|debs|samples)|^/var/(log|cache|lib/(dpkg|systemd|apt))" | sort')

step "it is not installed over a person's account, nor over a link, and can be finished later"
inside 'useradd --uid 1500 dropmill; ln -s /tmp /srv/dropmill'
! inside "dpkg -i $deb" >"$work/out" 2>&1 || fail "installed over a person's account"
grep -q "is no system user (its number is 1500)" "$work/out" || fail "$(cat "$work/out")"
inside 'userdel dropmill; groupdel dropmill 2>/dev/null || true'
! inside "dpkg --configure dropmill" >"$work/out" 2>&1 || fail "installed over a link"
grep -q "/srv/dropmill is a symbolic link" "$work/out" || fail "$(cat "$work/out")"
inside 'rm /srv/dropmill; dpkg --configure dropmill' >"$work/out" || fail "not finished"

step "it is idle without a pipeline, and says what comes next"
[ "$(grep -A3 'is installed' "$work/out" | wc -l)" = 4 ] || fail "no four lines: $(cat "$work/out")"
await holds 'systemctl is-active dropmill' || fail "not active"
holds 'systemctl is-enabled dropmill' || fail "not enabled"
await holds 'systemctl status dropmill | grep -q "no pipeline is loaded"' || fail "not idle"
[ "$(inside 'stat -c "%a %U:%G" /srv/dropmill')" = "2750 dropmill:dropmill" ] || fail "/srv/dropmill"

step "the first pipeline, and every sample"
inside 'cd /etc/dropmill/pipelines && sed "s/- unpack .*/- unpack: { require_sandbox: true }/" example.yaml.disabled >scans.yaml && systemctl reload dropmill' ||
    fail "reload"
inside 'for file in /samples/*.*; do case $file in *.md) ;; *) cp "$file" /srv/dropmill/scans/inbox/ ;; esac; done'
await holds '[ -z "$(ls /srv/dropmill/scans/inbox)" ] && dropmill status --json | grep -q "\"active\":0.*\"settling\":0"' ||
    fail "not through"
failed=$(inside 'ls /srv/dropmill/scans/failed | grep -v error.json | xargs')
[ "$failed" = "damaged.zip escape.tar" ] || fail "failed: $failed"
[ "$(inside 'journalctl --no-pager -o cat -u dropmill -p warning | wc -l')" -ge 2 ] || fail "warnings"
pid=$(process)
# What it means to say goes to the journal in its own words.
strangers=$(inside "journalctl --no-pager -o cat _PID=$pid _TRANSPORT=stdout")
[ -z "$strangers" ] || fail "not its own: $strangers"
inside 'setpriv --reuid=dropmill --regid=dropmill --init-groups dropmill doctor --unit' >"$work/out" || fail "$(cat "$work/out")"

step "how exposed it is"
exposure() { inside "systemd-analyze security --no-pager dropmill | sed -n 's/.*exposure level for dropmill.service: \\([0-9.]*\\).*/\\1/p'"; }
level=$(exposure)
inside 'mkdir -p /etc/systemd/system/dropmill.service.d && cp /usr/share/doc/dropmill/examples/systemd/no-network.conf /etc/systemd/system/dropmill.service.d/ && systemctl daemon-reload'
lonely=$(exposure)
echo "  $level, without a network $lonely"
awk "BEGIN { exit !($level <= 2.0 && $lonely <= 1.3) }" || fail "exposed: $level, $lonely"
inside 'rm -r /etc/systemd/system/dropmill.service.d && systemctl daemon-reload'

step "signals"
pid=$(process)
inside 'systemctl kill -s HUP --kill-whom=main dropmill; systemctl kill -s USR1 --kill-whom=main dropmill'
await holds '[ "$(dropmill audit | grep -c reload)" -ge 2 ]' || fail "no reload by HUP"
[ "$(process)" = "$pid" ] || fail "a signal ended it"
inside 'systemctl kill -s KILL --kill-whom=main dropmill'
other() { now=$(process) && [ "$now" != 0 ] && [ "$now" != "$pid" ] && holds 'systemctl is-active dropmill'; }
began=$SECONDS
await other || fail "not started again"
[ $((SECONDS - began)) -le 5 ] || fail "started again after $((SECONDS - began)) s"

step "an upgrade under load, and back"
repack() {
    dpkg-deb -R "$debs/dropmill_${version}_$arch.deb" "$work/next"
    sed -i "s/^Version: .*/Version: $1/" "$work/next/DEBIAN/control"
    dpkg-deb --root-owner-group -Zgzip -z1 --build "$work/next" "$work/$1.deb" >/dev/null
    inside "cat >/tmp/$1.deb" <"$work/$1.deb"
    rm -rf "$work/next"
}
repack 99.0-1
inside 'for n in $(seq 500); do echo $n >/tmp/load-$n.txt; done; (for n in $(seq 500); do mv /tmp/load-$n.txt /srv/dropmill/scans/inbox/; sleep 0.01; done) &
    dpkg -i /tmp/99.0-1.deb >/dev/null && dpkg -i '"$deb"' >/dev/null 2>&1; wait' || fail "upgrade"
# An original that is itself published is in no other place.
done='find /srv/dropmill/scans/output -name "load-*.txt" | wc -l'
await holds "[ \$($done) = 500 ]" || fail "$(inside "$done") of 500"
[ "$(inside 'find /srv/dropmill/scans -name "load-*.txt" | wc -l')" = 500 ] || fail "some are in two places"
pid=$(process)
inside 'echo "stages: nonsense" >>/etc/dropmill/pipelines/scans.yaml; dpkg -i /tmp/99.0-1.deb' >"$work/out" 2>&1 || fail "$(cat "$work/out")"
grep -q "scans.yaml:.*error: " "$work/out" && grep -q "goes on as it was" "$work/out" || fail "$(cat "$work/out")"
[ "$(process)" = "$pid" ] || fail "the old one did not go on"

step "a wrong configuration is no reason to try again"
inside 'systemctl restart dropmill' >/dev/null 2>&1 || true
await holds 'systemctl is-failed dropmill' || fail "not failed"
await holds 'systemctl status --no-pager --full dropmill | grep -q "scans.yaml:[0-9]*:[0-9]*: error"' || fail "no line and column"
[ "$(inside 'systemctl show -p ExecMainStatus --value dropmill')" = 78 ] || fail "status"

step "removal, another installation, purge"
inside 'dpkg -r dropmill && [ -d /var/lib/dropmill ] && [ -e /etc/dropmill/pipelines/scans.yaml ] && getent passwd dropmill' >/dev/null || fail "removal"
inside "sed -i '/nonsense/d' /etc/dropmill/pipelines/scans.yaml; dpkg -i $deb" >/dev/null || fail "not installed again"
await holds 'systemctl is-active dropmill' || fail "not active again"
inside 'dpkg --verify dropmill' >"$work/out"
[ ! -s "$work/out" ] || fail "dpkg -V: $(cat "$work/out")"
inside 'dpkg -P dropmill' >"$work/out" 2>&1 || fail "$(cat "$work/out")"
grep -q "left as it is: /srv/dropmill" "$work/out" || fail "$(cat "$work/out")"
after=$(inside 'find / -xdev | grep -Ev "^/(proc|sys|run|tmp|debs|samples)|^/var/(log|cache|lib/(dpkg|systemd|apt))" | sort')
left=$(diff <(echo "$before") <(echo "$after") | grep '^[<>]' | grep -Ev '^> /(srv/dropmill|etc/(sub)?[ug]id-?$)' || true)
[ -z "$left" ] || fail "left behind: $left"
echo "The package does what it should."
