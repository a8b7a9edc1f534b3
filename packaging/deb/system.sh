# shellcheck shell=bash
# Boots a tree of Debian in which the packages can be tried; read by the scripts that do. They set `debs`, the folder of the
# packages, and then call `boot`. The tree is made once, and kept there; what happens in it is gone afterwards. A `clean_up` of
# theirs is called at the end.
. packaging/common.sh
version=$(cat VERSION)-1
arch=$(dpkg --print-architecture)
package=dropmill_${version}_$arch.deb
deb=/debs/$package
export PATH=$PATH:/usr/sbin
first= container= work=

# Where it cannot be tried that is said, and is no failure.
skip() {
    echo "skipped: $1" >&2
    exit 0
}

step() { echo "· $1"; }

fail() {
    echo "FAILED: $1" >&2
    inside 'systemctl status --no-pager --full --lines=30 dropmill; journalctl --no-pager -u dropmill -n 100 -o short' >&2 || true
    exit 1
}

inside() { nsenter -t "$first" -a /bin/sh -c "$1"; }
holds() { inside "$1" >/dev/null 2>&1; }
process() { inside 'systemctl show -p MainPID --value dropmill'; }

booted() {
    first=$(cat "/proc/$container/task/$container/children" 2>/dev/null) && first=${first%% *} && [ -n "$first" ] &&
        nsenter -t "$first" -a /bin/sh -c 'case $(systemctl is-system-running) in running | degraded) ;; *) exit 1 ;; esac' 2>/dev/null
}

shut_down() {
    if declare -F clean_up >/dev/null; then clean_up; fi
    # What is booted outlives what booted it.
    [ -z "$first" ] || kill -9 "$first" 2>/dev/null || true
    [ -z "$container" ] || kill -9 "$container" 2>/dev/null || true
    wait "$container" 2>/dev/null || true
    [ -z "$work" ] || rm -rf "$work"
}

# usage: boot [ARGUMENT of systemd-nspawn]…
boot() {
    for program in systemd-nspawn debootstrap nsenter; do
        command -v "$program" >/dev/null || skip "there is no $program here"
    done
    [ "$(id -u)" -eq 0 ] || skip "only root can boot a system"
    tree=$debs/tree
    if [ ! -d "$tree" ]; then
        rm -rf "$tree.new"
        depends=$(dpkg-deb --field "$debs/$package" Depends | sed 's/([^)]*)//g; s/ //g')
        debootstrap --variant=minbase --include="systemd,dbus,init-system-helpers,$depends" \
            "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$tree.new" >"$debs/debootstrap.log" ||
            skip "debootstrap makes no tree ($debs/debootstrap.log)"
        mv "$tree.new" "$tree"
    fi
    trap shut_down EXIT
    work=$(mktemp -d)
    systemd-nspawn --directory="$tree" --volatile=overlay --boot --register=no --keep-unit --console=pipe \
        --machine="dropmill-package-$$" \
        --system-call-filter="landlock_create_ruleset landlock_add_rule landlock_restrict_self" \
        --bind-ro="$debs:/debs" --bind-ro="$PWD/samples:/samples" "$@" >"$work/console" 2>&1 &
    container=$!
    await booted || {
        cat "$work/console" >&2
        skip "this machine boots no system"
    }
}
