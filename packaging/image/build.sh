#!/usr/bin/env bash
# Makes an OCI image of the Debian package: a debootstrapped minimum, the program, and no more. Needs root (debootstrap),
# and no daemon. usage: build.sh FOLDER, with the package that packaging/deb/build.sh made; the image is put there, too.
set -eu

folder=$(realpath "$1")
cd "$(dirname "$0")/../.."
[ "$(id -u)" -eq 0 ] || { echo "error: an image is made by root: debootstrap needs it" >&2; exit 77; }
PATH=$PATH:/usr/sbin

. packaging/common.sh
version=$(cat VERSION)
arch=$(dpkg --print-architecture)
deb=$folder/dropmill_$version-1_$arch.deb
image=$folder/dropmill_${version}_$arch.oci.tar

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/bundle/rootfs

umoci init --layout "$work/layout"
umoci new --image "$work/layout:$version"
umoci unpack --image "$work/layout:$version" "$work/bundle"

# The package's scripts are for a service of systemd, so only its files are taken.
depends=$(dpkg-deb --field "$deb" Depends | sed 's/([^)]*)//g; s/ //g; s/,passwd$//')
rmdir "$root"
debootstrap --variant=minbase --include="$depends,ca-certificates,libpq5" \
    "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$root" >"$work/debootstrap.log" || { tail "$work/debootstrap.log" >&2; exit 1; }
# Its /lib is a link here.
files() { dpkg-deb --fsys-tarfile "$deb" | tar --extract --keep-directory-symlink --directory "$root" "$@"; }
files --exclude ./lib
rm -rf "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/* "$root"/var/log/* "$root"/usr/share/{doc,man,locale,info}/* \
    "$root"/usr/lib/{systemd,sysusers.d,tmpfiles.d} "$root"/etc/dropmill/pipelines/* \
    "$root"/var/cache/ldconfig/* "$root"/etc/{hostname,resolv.conf,machine-id}
files ./usr/share/doc/dropmill/copyright ./usr/share/doc/dropmill/THIRD-PARTY-NOTICES
echo 'dropmill:x:65532:65532:Dropmill:/var/lib/dropmill:/usr/sbin/nologin' >>"$root/etc/passwd"
echo 'dropmill:x:65532:' >>"$root/etc/group"
install -d -o 65532 -g 65532 -m 0700 "$root/var/lib/dropmill"
install -d -o 65532 -g 65532 -m 0750 "$root/srv"
find "$root" -xdev -newermt "@$SOURCE_DATE_EPOCH" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +

date=$(date --utc --date="@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
umoci repack --image "$work/layout:$version" --history.created "$date" --history.created_by packaging/image/build.sh "$work/bundle"
umoci config --image "$work/layout:$version" --history.created "$date" --created "$date" --config.user 65532:65532 \
    --config.entrypoint /usr/bin/dropmill --config.workingdir / --config.stopsignal SIGTERM \
    --config.cmd run --config.cmd --allow-none --config.cmd --log-format --config.cmd json \
    --config.cmd --state-dir --config.cmd /var/lib/dropmill --config.cmd /etc/dropmill/pipelines \
    --config.volume /etc/dropmill/pipelines --config.volume /srv --config.volume /var/lib/dropmill \
    --config.label org.opencontainers.image.title=dropmill --config.label "org.opencontainers.image.version=$version" \
    --config.label org.opencontainers.image.licenses=Apache-2.0
# Not in the OCI's specification, but read by Docker and by what follows it.
packaging/image/health.py "$work/layout"
umoci gc --layout "$work/layout"
tar --create --file "$image" --directory "$work/layout" --sort=name --owner=0 --group=0 --numeric-owner \
    --mtime="@$SOURCE_DATE_EPOCH" .
ls -l "$image"
