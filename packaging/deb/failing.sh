#!/usr/bin/env bash
# Has what surrounds the service fail: a full disk, a daemon that hangs, memory that runs out, a journal of another version.
# usage: failing.sh FOLDER, with the packages that build.sh made. Needs what try.sh needs, and sqlite3.
set -eu

debs=$(realpath "$1")
cd "$(dirname "$0")/../.."
. packaging/deb/system.sh
command -v sqlite3 >/dev/null || skip "there is no sqlite3 here"

group=
clean_up() {
    # Its processes are gone only when the container is.
    [ -z "$group" ] || { kill -9 "$first" 2>/dev/null && await rmdir "$group" 2>/dev/null; } || true
}
boot

step "a full /var: nothing is half there, and it can be finished once there is room"
inside 'cp -a /var /tmp/var && mount -t tmpfs -o size=$(($(du -sk /var | cut -f 1) + 4000))k var /var && cp -a /tmp/var/. /var && rm -r /tmp/var
    dd if=/dev/zero of=/var/full 2>/dev/null || true'
! inside "dpkg -i $deb" >"$work/out" 2>&1 || fail "installed"
grep -q "No space left on device" "$work/out" || fail "$(cat "$work/out")"
inside "rm /var/full; dpkg --unpack $deb; dd if=/dev/zero of=/var/full 2>/dev/null || true" >/dev/null
! inside "dpkg --configure dropmill" >"$work/out" 2>&1 || fail "configured"
grep -q "No space left on device" "$work/out" || fail "$(cat "$work/out")"
inside "rm /var/full; dpkg --configure dropmill" >"$work/out" 2>&1 || fail "not finished: $(cat "$work/out")"
inside 'umount -l /var' 2>/dev/null
inside "dpkg -i $deb" >"$work/out" 2>&1 || fail "$(cat "$work/out")"

inside 'cat >/etc/dropmill/pipelines/scans.yaml' <<'END'
inbox: /srv/dropmill/scans/inbox
processed: /srv/dropmill/scans/processed
failed: /srv/dropmill/scans/failed
ready: { quiet: 50ms }
stages:
  - run: { command: [sh, -c, 'case {name} in greedy) tail /dev/zero ;; esac'] }
END
inside 'systemctl reload dropmill' || fail "reload"

# usage: drop NAME…; they are there at once.
drop() { inside "install -o dropmill -g dropmill -m 0600 /dev/null /srv/dropmill/empty && for name in $*; do
    cp -p /srv/dropmill/empty /srv/dropmill/scans/inbox/\$name; done"; }
done_are() { [ "$(inside 'ls /srv/dropmill/scans/processed | wc -l')" = "$1" ]; }
other() { now=$(process) && [ "$now" != 0 ] && [ "$now" != "$pid" ] && holds 'dropmill health'; }

step "a state folder without room is waited for"
# More starts within ten seconds than systemd allows a unit that does not say otherwise.
set_up() { inside "mkdir -p /etc/systemd/system/dropmill.service.d &&
    printf '[Service]\n$1\n' >/etc/systemd/system/dropmill.service.d/try.conf && systemctl daemon-reload"; }
as_shipped() { inside 'rm -r /etc/systemd/system/dropmill.service.d && systemctl daemon-reload'; }
set_up RestartSec=200ms
inside 'systemctl stop dropmill; mkdir /tmp/state && mv /var/lib/dropmill/* /tmp/state/ && mount -t tmpfs -o size=64k state /var/lib/dropmill &&
    (dd if=/dev/zero of=/var/lib/dropmill/full 2>/dev/null || true) && chmod 0600 /var/lib/dropmill/full && chown -R dropmill: /var/lib/dropmill'
inside 'systemctl start dropmill' >/dev/null 2>&1 || true
await holds 'journalctl -u dropmill | grep -q "journal .*/var/lib/dropmill.*No space left on device. Free space"' || fail "not said"
await holds '[ "$(journalctl -u dropmill -o cat | grep -c "No space left on device")" -ge 12 ]' || fail "it was given up"
inside 'umount -l /var/lib/dropmill && mv /tmp/state/* /var/lib/dropmill/'
await holds 'dropmill health' || fail "not running again"
as_shipped

step "a daemon that hangs is ended by the watchdog, and jobs go on"
set_up WatchdogSec=3
inside 'systemctl restart dropmill'
pid=$(process)
inside "kill -STOP $pid"
drop $(seq 20)
await other || fail "it hangs"
holds 'journalctl -u dropmill | grep -q "Watchdog timeout"' || fail "not by the watchdog"
await done_are 20 || fail "$(inside 'dropmill status')"
as_shipped
inside 'systemctl restart dropmill'

# Where systemd can set no MemoryMax, as in a container below cgroups of version 1, the limit is set from outside.
memory=/sys/fs/cgroup/memory
if [ -w "$memory/memory.limit_in_bytes" ]; then
    # The process of the host that has a number inside.
    outside() {
        for status in /proc/[0-9]*/status; do
            folder=${status%/status}
            if grep -qsE "^NSpid:.*[[:space:]]$1\$" "$status" && [ "$folder/ns/pid" -ef "/proc/$first/ns/pid" ]; then echo "${folder#/proc/}"; fi
        done
    }
    # usage: limit BYTES
    limit() {
        group=$memory/dropmill-$$-$1
        mkdir "$group"
        # A machine's swap is not to be filled.
        echo 0 >"$group/memory.swappiness"
        echo "$1" >"$group/memory.limit_in_bytes"
        outside "$pid" >"$group/cgroup.procs"
    }
    step "a program that takes all memory fails its drop, and the daemon goes on"
    pid=$(process)
    limit 67108864
    drop greedy modest
    await holds 'test -e /srv/dropmill/scans/failed/greedy.error.json' || fail "$(inside 'dropmill status')"
    await done_are 21 || fail "the other one"
    [ "$(process)" = "$pid" ] || fail "the daemon did not go on"
    grep -q "oom_kill [1-9]" "$group/memory.oom_control" || fail "nothing was killed for its memory"

    step "a daemon that takes more than it may is killed, and jobs go on"
    inside 'systemctl restart dropmill'
    pid=$(process)
    inside 'dropmill pause' >/dev/null
    rmdir "$group"
    limit 1048576
    began=$SECONDS
    drop $(seq 1001 2000)
    inside 'dropmill resume' >/dev/null 2>&1 || true
    await other || fail "not killed"
    grep -q "oom_kill [1-9]" "$group/memory.oom_control" || fail "nothing was killed for its memory"
    inside 'dropmill resume' >/dev/null
    await done_are 1021 || fail "$(inside 'dropmill status')"
else
    echo "skipped: this machine has no $memory; what happens where memory runs out was not tried" >&2
fi

step "an upgrade keeps the journal of an older version, and the way back names that copy"
state=/var/lib/dropmill
# usage: sql STATEMENTS, in the journal of a daemon that is stopped; SQLite opens none by a path below /proc.
sql() {
    cp "/proc/$first/root$state"/journal.sqlite* "$work/"
    sqlite3 "$work/journal.sqlite" "$1; PRAGMA wal_checkpoint(TRUNCATE)" | head -n 1
    inside "rm -f $state/journal.sqlite-* && cat >$state/journal.sqlite" <"$work/journal.sqlite"
    rm "$work"/journal.sqlite*
}
inside 'systemctl stop dropmill'
jobs=$(sql 'SELECT count(*) FROM jobs')
sql "ALTER TABLE retries DROP COLUMN modified; ALTER TABLE retries DROP COLUMN size; ALTER TABLE retries DROP COLUMN inbox;
    ALTER TABLE retries DROP COLUMN at; DROP TABLE figures; DELETE FROM grdb_migrations WHERE identifier IN ('9 notes', '10 figures')" >/dev/null
inside 'systemctl start dropmill'
await holds 'dropmill health' || fail "the older journal is not taken"
copy=$(inside "echo $state/journal.before-*.sqlite")
holds "test -e $copy" || fail "no copy"
inside 'systemctl stop dropmill'
[ "$jobs" -ge 20 ] && [ "$(sql 'SELECT count(*) FROM jobs')" = "$jobs" ] || fail "jobs are missing"
sql "INSERT INTO grdb_migrations VALUES ('99 telepathy')" >/dev/null
! inside 'systemctl start dropmill' >/dev/null 2>&1 || fail "it takes a newer journal"
await holds "systemctl status --no-pager --full dropmill | grep -q \"99 telepathy.*$copy\"" || fail "the way back is not named"
inside "cp $copy $state/journal.sqlite && chown dropmill: $state/journal.sqlite && systemctl reset-failed dropmill && systemctl start dropmill"
await holds 'dropmill health' || fail "the copy is not taken"
[ "$(inside 'dropmill jobs --json --limit 5000 | grep -o "\"id\":" | wc -l')" = "$jobs" ] || fail "jobs are missing in the copy"
echo "The service takes what happens around it."
