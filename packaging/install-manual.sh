#!/bin/sh
# Installs what a program says of itself: its manual pages, and completions for shells.
# usage: install-manual.sh PROGRAM SHARE
set -eu

program=$1
share=$2

made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
"$program" man --to "$made"
for page in "$made"/*; do
    section=${page##*.}
    install -D -m 0644 "$page" "$share/man/man$section/${page##*/}"
done
# It is read, not run.
"$program" --generate-completion-script bash | sed '1{/^#!/d}' >"$made/bash"
"$program" --generate-completion-script zsh >"$made/zsh"
"$program" --generate-completion-script fish >"$made/fish"
install -D -m 0644 "$made/bash" "$share/bash-completion/completions/dropmill"
install -D -m 0644 "$made/zsh" "$share/zsh/site-functions/_dropmill"
install -D -m 0644 "$made/fish" "$share/fish/vendor_completions.d/dropmill.fish"
