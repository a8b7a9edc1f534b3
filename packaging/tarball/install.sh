#!/bin/sh
# Installs Dropmill from this folder: to /opt/dropmill, or to PREFIX; with systemd also as a service, for which it needs root.
# usage: [PREFIX=/opt/dropmill] ./install.sh
set -eu
umask 022

prefix=${PREFIX:-/opt/dropmill}
cd "$(dirname "$0")"

fail() {
    echo "install.sh: $1" >&2
    exit 1
}

# What is too old is said before anything is changed.
bin/dropmill --version >/dev/null || fail "the program does not run here; it needs glibc 2.36 or later (this is $(getconf GNU_LIBC_VERSION 2>/dev/null || echo another C library))"

mkdir -p "$prefix"
# Beside what runs, not over it: a daemon that runs goes on with its own.
for part in bin lib share; do
    rm -rf "$prefix/$part.new"
    cp -R "$part" "$prefix/$part.new"
    rm -rf "$prefix/$part.old"
    [ ! -e "$prefix/$part" ] || mv "$prefix/$part" "$prefix/$part.old"
    mv "$prefix/$part.new" "$prefix/$part"
    rm -rf "$prefix/$part.old"
done
echo "installed to $prefix"

[ "$(id -u)" -eq 0 ] || { echo "no service is set up: that needs root"; exit 0; }
[ -z "${DESTDIR:-}" ] && [ -d /run/systemd/system ] || { echo "no service is set up: systemd does not run here"; exit 0; }

for unit in dropmill.service dropmill-serve.service dropmill-serve.socket; do
    path=/etc/systemd/system/$unit
    sed "s|/usr/bin/dropmill|$prefix/bin/dropmill|" "share/systemd/$unit" >"$path.new"
    mv "$path.new" "$path"
done
systemd-sysusers share/systemd/sysusers.conf
systemd-tmpfiles --create share/systemd/tmpfiles.conf
install -d /etc/dropmill/pipelines
for file in dropmill.yaml pipelines/example.yaml.disabled; do
    [ -e "/etc/dropmill/$file" ] || install -m 0644 "share/systemd/${file##*/}" "/etc/dropmill/$file"
done
systemctl daemon-reload
systemctl enable --now dropmill.service
echo "the service runs; put a pipeline into /etc/dropmill/pipelines, then: systemctl reload dropmill"
