#!/usr/bin/env bash
# Tries the packages as an administrator would, below a real systemd: installs, works, is killed, upgraded, removed, purged.
# usage: try.sh FOLDER, with the packages that build.sh made. Needs root, debootstrap and systemd-nspawn; the tree that it
# boots is made once, and kept in FOLDER.
set -eu

debs=$(realpath "$1")
cd "$(dirname "$0")/../.."
. packaging/deb/system.sh
boot

before=$(inside 'find / -xdev | grep -Ev "^/(proc|sys|run|tmp|debs|samples)|^/var/(log|cache|lib/(dpkg|systemd|apt))" | sort')

step "it is installed where systemd does not run"
systemd-nspawn --directory="$tree" --volatile=overlay --register=no --keep-unit --console=pipe --as-pid2 --quiet \
    --bind-ro="$debs:/debs" /bin/sh -c "dpkg -i $deb && cd /etc/dropmill/pipelines &&
        cp example.yaml.disabled scans.yaml && dropmill check && dropmill --version && dpkg -P dropmill" \
    >"$work/out" 2>&1 || fail "$(cat "$work/out")"
grep -q "is installed. What comes next" "$work/out" || fail "$(cat "$work/out")"

step "it is not installed where /etc cannot be written to, and is once it can"
inside 'mount --bind /etc /etc && mount -o remount,bind,ro /etc'
! inside "dpkg -i $deb" >"$work/out" 2>&1 || fail "installed"
grep -q "Read-only file system" "$work/out" || fail "$(cat "$work/out")"
inside 'umount /etc'

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
