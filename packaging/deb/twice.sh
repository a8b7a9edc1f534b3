#!/usr/bin/env bash
# Builds the packages of this commit twice, in folders of different names and depth, one after the other, under different
# umasks and, as root, as different users; what comes out is to be the same, byte for byte.
# usage: twice.sh
set -eu
cd "$(dirname "$0")/../.."
. packaging/common.sh

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 0755 "$work"
commit=$(git rev-parse HEAD)
git diff --quiet HEAD || echo "warning: what is not committed is not built" >&2

# usage: build FOLDER UMASK [COMMAND that runs others]…
build() {
    local folder=$work/$1 mask=$2
    shift 2
    mkdir -p "$folder/home"
    # Packages may come from a mirror on this machine that is somebody else's.
    printf '[safe]\n\tdirectory = *\n' >"$folder/home/.gitconfig"
    # Its own files: what is linked would be given to another user with it.
    git clone --quiet --no-hardlinks . "$folder/dropmill"
    git -C "$folder/dropmill" checkout --quiet --detach "$commit"
    [ $# -eq 0 ] || chown -R nobody: "$folder"
    # shellcheck disable=SC2016  # for the other shell
    "$@" env HOME="$folder/home" TMPDIR="$folder/home" sh -euc '
        umask "$1"
        cd "$2"
        make release >build.log 2>&1 || { tail -n 50 build.log >&2; exit 1; }
        packaging/deb/build.sh .build-release/release/dropmill .build-deb' sh "$mask" "$folder/dropmill"
}
build one 022
other=()
[ "$(id -u)" -ne 0 ] || other=(setpriv --reuid=nobody --regid=nogroup --clear-groups)
build another/place/with_a.longer-name 077 "${other[@]}"

status=0
for package in "$work"/one/dropmill/.build-deb/*.deb; do
    name=$(basename "$package")
    twin=$work/another/place/with_a.longer-name/dropmill/.build-deb/$name
    if cmp "$package" "$twin"; then
        echo "the same: $(sha256sum <"$package" | cut -c 1-16)… $name"
    else
        status=1
        dpkg-deb -R "$package" "$work/first"
        dpkg-deb -R "$twin" "$work/second"
        diff -rq "$work/first" "$work/second" || true
        rm -r "$work/first" "$work/second"
    fi
done
exit $status
