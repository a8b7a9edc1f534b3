#!/bin/sh
# Installs what building Dropmill needs on Debian or Ubuntu, besides Swift itself. With --test also the programs that
# the tests compare with, with --deb what makes packages, with --bench what the benchmark takes; what the tests take of
# Python's and is in no package of Debian's, or is too old there, comes from PyPI into .build/tools.
# Says what it does; does nothing when all is there.
set -eu

build="libarchive-dev libcurl4-openssl-dev libisal-dev libmagic-dev libpq-dev libssl-dev libsqlite3-dev libxxhash-dev libyaml-dev pkg-config gcc libc6-dev make"
test="strace zip unzip p7zip-full zstd xz-utils bzip2 lz4 libarchive-tools rsync xxhash b3sum gpg gpg-agent openssl ghostscript imagemagick ffmpeg clamav-daemon curl openssh-server openssh-client e2fsprogs xfsprogs sqlite3 postgresql util-linux logrotate bindfs acl file binutils mandoc groff-base debootstrap systemd-container prometheus chromium fonts-noto-core python3 python3-venv python3-jsonschema python3-yaml"
deb="dpkg-dev binutils lintian debootstrap umoci patchelf xz-utils"
packages="bagit prometheus_client playwright axe-playwright-python schemathesis"
modules="bagit, prometheus_client, playwright, axe_playwright_python, schemathesis"
bench="python3 python3-matplotlib libarchive-tools openssl zstd strace"

case "${1:-}" in
    "") wanted=$build ;;
    --test) wanted="$build $test" ;;
    --deb) wanted="$build $deb" ;;
    --bench) wanted="$build $bench" ;;
    *)
        echo "usage: $0 [--test | --deb | --bench]" >&2
        exit 64
        ;;
esac

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "error: this is no Debian-like system; install what corresponds to: $wanted" >&2
    exit 1
fi

missing=
for package in $wanted; do
    # A virtual or renamed package (pkgconf for pkg-config) counts by what it brings.
    case $package in
        pkg-config | gcc | make | strace | zip | unzip | zstd | lz4 | rsync | curl | python3 | openssl) command -v "$package" >/dev/null && continue ;;
        p7zip-full) command -v 7z >/dev/null && continue ;;
    esac
    status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || missing="$missing $package"
done

# A virtual environment of the checkout's own: nothing of the system's Python is changed.
install_tools() {
    tools=$(dirname "$0")/../.build/tools
    "$tools/bin/python3" -c "import $modules" 2>/dev/null && return
    echo "Installing: $packages (into .build/tools)"
    # shellcheck disable=SC2086  # a list of words
    if ! { /usr/bin/python3 -m venv "$tools" && "$tools/bin/pip" install --quiet $packages; }; then
        echo "warning: nothing from PyPI; tests with $packages are skipped" >&2
    fi
}

if [ -z "$missing" ]; then
    [ "${1:-}" != --test ] || install_tools
    exit 0
fi

sudo=
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "error: missing:$missing; install them as root, or install sudo" >&2
        exit 1
    fi
    sudo=sudo
fi

echo "Installing:$missing"
export DEBIAN_FRONTEND=noninteractive
# The list of packages may be absent or old: fetch it only if it does not do.
# shellcheck disable=SC2086  # a list of words
if ! $sudo apt-get install -y --no-install-recommends $missing >/dev/null 2>&1; then
    $sudo apt-get update
    $sudo apt-get install -y --no-install-recommends $missing
fi
[ "${1:-}" != --test ] || install_tools
