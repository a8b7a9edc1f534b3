#!/usr/bin/env bash
# Makes Debian packages of a release: dropmill_VERSION_ARCH.deb and that of its debug symbols. Needs no rights, and gives the
# same bytes for the same commit. usage: build.sh PROGRAM FOLDER
set -eu

program=$(realpath "$1")
mkdir -p "$2"
folder=$(realpath "$2")
cd "$(dirname "$0")/../.."
here=packaging/deb

. packaging/common.sh
version=$(cat VERSION)-1
arch=$(dpkg --print-architecture)
maintainer="${DEBFULLNAME:-Dropmill packagers} <${DEBEMAIL:-packagers@dropmill.example}>"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/dropmill
symbols=$work/dropmill-dbgsym

# Writes DEBIAN/ and packs it: NAME, TREE, and words for control.
pack() {
    local name=$1 tree=$2
    shift 2
    mkdir -p "$tree/DEBIAN"
    local size
    size=$(find "$tree" -path "$tree/DEBIAN" -prune -o -type f -printf '%s\n' | awk '{ sum += int(($1 + 1023) / 1024) } END { print sum + 0 }')
    sed "$@" -e "s|@VERSION@|$version|; s|@ARCH@|$arch|; s|@SIZE@|$size|; s|@MAINTAINER@|$maintainer|" \
        "$here/control${name#dropmill}" >"$tree/DEBIAN/control"
    (cd "$tree" && find . -path ./DEBIAN -prune -o -type f -printf '%P\0' | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
    find "$tree" -newermt "@$SOURCE_DATE_EPOCH" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
    dpkg-deb --root-owner-group -Zxz --build "$tree" "$folder/${name/./-}_${version}_$arch.deb"
}

# The program, and its symbols beside it.
install -D -m 0755 "$program" "$tree/usr/bin/dropmill"
id=$(readelf --notes "$program" | sed -n 's/.*Build ID: *//p' | head -n 1)
[ -n "$id" ] || { echo "error: $program has no build id; build it by 'make release'" >&2; exit 1; }
debug=usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug
mkdir -p "$symbols/$(dirname "$debug")"
objcopy --only-keep-debug --compress-debug-sections "$program" "$symbols/$debug"
chmod 0644 "$symbols/$debug"
strip --strip-unneeded --remove-section=.comment --remove-section=.note "$tree/usr/bin/dropmill"

# Units, users, folders, the journal's catalog.
lib=$tree/usr/lib
install -D -m 0644 -t "$tree/lib/systemd/system" packaging/systemd/dropmill{.service,-serve.service,-serve.socket}
install -D -m 0644 packaging/systemd/sysusers.conf "$lib/sysusers.d/dropmill.conf"
install -D -m 0644 packaging/systemd/tmpfiles.conf "$lib/tmpfiles.d/dropmill.conf"
install -D -m 0644 packaging/dropmill.catalog "$lib/systemd/catalog/dropmill.catalog"

# What an administrator changes.
install -D -m 0644 "$here/dropmill.yaml" "$tree/etc/dropmill/dropmill.yaml"
install -D -m 0644 "$here/example.yaml.disabled" "$tree/etc/dropmill/pipelines/example.yaml.disabled"

# What it says of itself.
share=$tree/usr/share
packaging/install-manual.sh "$program" "$share"
gzip -9n "$share"/man/man*/*
mkdir -p "$share/dropmill"
"$program" check --schema >"$share/dropmill/pipeline.schema.json"
"$program" check --settings-schema >"$share/dropmill/dropmill.schema.json"

docs=$share/doc/dropmill
install -d "$docs/docs" "$docs/examples/pipelines" "$docs/examples/systemd"
install -m 0644 README.md SECURITY.md THIRD-PARTY-NOTICES packaging/dropmill.spdx.json "$docs"
install -m 0644 docs/*.md docs/*.png docs/alerts.yaml docs/grafana.json "$docs/docs"
install -m 0644 pipelines/*.yaml "$docs/examples/pipelines"
install -m 0644 packaging/systemd/dropmill@.service packaging/systemd/drop-ins/*.conf "$docs/examples/systemd"
install -m 0644 "$here/copyright" "$docs/copyright"
gzip -9n <CHANGELOG.md >"$docs/changelog.gz"
gzip -9n >"$docs/changelog.Debian.gz" <<END
dropmill ($version) unstable; urgency=medium

  * Release ${version%-*}; changelog.gz tells what is new.

 -- $maintainer  $(date --utc --rfc-email --date="@$SOURCE_DATE_EPOCH")
END
chmod 0644 "$docs"/*.gz
install -D -m 0644 "$here/lintian-overrides" "$share/lintian/overrides/dropmill"

# Also the packages of what is loaded only by pipelines that need it.
mkdir "$work/debian"
printf 'Source: dropmill\n\nPackage: dropmill\nArchitecture: any\n' >"$work/debian/control"
echo 'int main(void) { return 0; }' | gcc -x c - -o "$work/loaded" -Wl,--no-as-needed -larchive -lcurl -lmagic
depends=$(cd "$work" && dpkg-shlibdeps -O --ignore-missing-info dropmill/usr/bin/dropmill loaded | sed -n 's/^shlibs:Depends=//p' |
    # Packed relocations, which no symbol tells of.
    sed 's/libc6 (>= 2\.3[0-5])/libc6 (>= 2.36)/')

mkdir "$tree/DEBIAN"
for script in preinst postinst prerm postrm; do install -m 0755 "$here/$script" "$tree/DEBIAN/$script"; done
(cd "$tree" && find etc -type f -printf '/%p\n' | sort) >"$tree/DEBIAN/conffiles"
pack dropmill "$tree" -e "s|@DEPENDS@|$depends|"
mkdir -p "$symbols/usr/share/doc"
ln -s dropmill "$symbols/usr/share/doc/dropmill-dbgsym"
pack dropmill.dbgsym "$symbols" -e "s|@BUILD-ID@|$id|"
