#!/usr/bin/env bash
# Tries the tarball in trees of other releases of Debian, which have other versions of glibc and none of the libraries:
# installs it there and takes the samples through a pipeline. usage: try.sh FOLDER [SUITE]…, with the tarball that build.sh
# made. Needs root, debootstrap and systemd-nspawn; the trees are made once, and kept in FOLDER.
set -eu

folder=$(realpath "$1")
shift
[ $# -gt 0 ] || set -- trixie sid
cd "$(dirname "$0")/../.."
. packaging/common.sh
export PATH=$PATH:/usr/sbin
name=dropmill-$(cat VERSION)-linux-$(uname -m)

skip() {
    echo "skipped: $1" >&2
    exit 0
}
for program in systemd-nspawn debootstrap; do
    command -v "$program" >/dev/null || skip "there is no $program here"
done
[ "$(id -u)" -eq 0 ] || skip "only root can enter another tree"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/try.sh" <<'END'
set -eu
cd /tmp
tar --extract --file "/packages/$1.tar.xz"
"$1/install.sh"
PATH=$PATH:/opt/dropmill/bin
mkdir pipelines
cat >pipelines/scans.yaml <<'YAML'
inbox: inbox
processed: processed
failed: failed
ready: { quiet: 50ms }
stages: [{ unpack: { require_sandbox: true } }, detect, { checksum: { when: { type: application/pdf } } }, { move: { to: "output/{stem}" } }]
YAML
mkdir pipelines/inbox
for file in /samples/*.*; do case $file in *.md) ;; *) cp "$file" pipelines/inbox/ ;; esac; done
dropmill run --once pipelines >log 2>&1 || [ $? = 1 ] || { cat log; exit 1; }
failed=$(cd pipelines/failed && ls | grep -v error.json | xargs)
[ "$failed" = "damaged.zip escape.tar" ] || { cat log; echo "failed: $failed"; exit 1; }
# By its content, as the libmagic beside it tells.
[ "$(cd pipelines/output && find . -name "*.sha256")" = ./invoice/invoice.pdf.sha256 ] || { cat log; exit 1; }
[ -z "$(ls pipelines/inbox)" ] || { echo "left: $(ls pipelines/inbox)"; exit 1; }
dropmill doctor pipelines >doctor 2>&1 || { cat doctor; exit 1; }
echo "$(. /etc/os-release && echo "$PRETTY_NAME"), glibc $(getconf GNU_LIBC_VERSION | cut -d' ' -f2): $(dropmill jobs --state processed | grep -c processed) processed"
END
for suite; do
    tree=$folder/tree-$suite
    if [ ! -d "$tree" ]; then
        rm -rf "$tree.new"
        debootstrap --variant=minbase --include=xz-utils "$suite" "$tree.new" >"$folder/debootstrap-$suite.log" ||
            skip "debootstrap makes no tree of $suite ($folder/debootstrap-$suite.log)"
        mv "$tree.new" "$tree"
    fi
    systemd-nspawn --directory="$tree" --volatile=overlay --register=no --keep-unit --console=pipe --as-pid2 --quiet \
        --system-call-filter="landlock_create_ruleset landlock_add_rule landlock_restrict_self" \
        --bind-ro="$folder:/packages" --bind-ro="$PWD/samples:/samples" --bind-ro="$work/try.sh:/try.sh" \
        /bin/sh /try.sh "$name" || { echo "FAILED in $suite" >&2; exit 1; }
done
