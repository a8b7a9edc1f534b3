#!/usr/bin/env bash
# Makes one folder with the program and its libraries, for distributions that are not Debian; they need glibc 2.36 or later.
# usage: build.sh PROGRAM FOLDER
set -eu

program=$(realpath "$1")
mkdir -p "$2"
folder=$(realpath "$2")
cd "$(dirname "$0")/../.."

. packaging/common.sh
name=dropmill-$(cat VERSION)-linux-$(uname -m)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/$name
mkdir -p "$tree/lib"
install -D -m 0755 "$program" "$tree/bin/dropmill"
strip --strip-unneeded "$tree/bin/dropmill"

# What it is linked with and what it loads; glibc is the system's own, or names of users and hosts are not found.
system='lib(c|m|dl|rt|pthread|resolv|util|anl|mvec)\.so|ld-linux|linux-vdso'
echo 'int main(void) { return 0; }' | gcc -x c - -o "$work/loaded" -Wl,--no-as-needed -larchive -lcurl -lmagic -lpq
{ ldd "$program"; ldd "$work/loaded"; } | awk '$2 == "=>" && $3 ~ "^/" { print $3 }' | sort -u | grep -Ev "/($system)" |
    while read -r library; do install -m 0644 "$library" "$tree/lib/${library##*/}"; done
patchelf --set-rpath '$ORIGIN/../lib' "$tree/bin/dropmill"
for library in "$tree"/lib/*; do patchelf --set-rpath '$ORIGIN' "$library"; done
# What libmagic knows types by.
install -D -m 0644 "$(realpath /usr/lib/file/magic.mgc)" "$tree/share/misc/magic.mgc"

packaging/install-manual.sh "$program" "$tree/share"
install -d "$tree/share/doc/dropmill/docs" "$tree/share/doc/dropmill/examples" "$tree/share/systemd"
install -m 0644 README.md CHANGELOG.md SECURITY.md LICENSE THIRD-PARTY-NOTICES packaging/dropmill.spdx.json "$tree/share/doc/dropmill"
install -m 0644 docs/*.md docs/*.png docs/alerts.yaml docs/grafana.json "$tree/share/doc/dropmill/docs"
install -m 0644 pipelines/*.yaml packaging/systemd/drop-ins/*.conf "$tree/share/doc/dropmill/examples"
install -m 0644 packaging/systemd/*.service packaging/systemd/*.socket packaging/systemd/sysusers.conf packaging/systemd/tmpfiles.conf \
    packaging/dropmill.catalog packaging/deb/dropmill.yaml packaging/deb/example.yaml.disabled "$tree/share/systemd"
install -m 0755 packaging/tarball/install.sh "$tree/install.sh"

tar --create --directory "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" "$name" |
    xz -T1 -6 >"$folder/$name.tar.xz"
ls -l "$folder/$name.tar.xz"
