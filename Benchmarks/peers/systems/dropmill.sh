#!/bin/sh
# Dropmill, the binary named by DROPMILL (default: on the PATH). DROPMILL_DURABILITY: full or fast. DROPMILL_INTO: where
# the digests of single files go, sidecar or list.
set -eu
mkdir -p "$HOT_ROOT/.bench"
cat > "$HOT_ROOT/.bench/bench.yaml" <<YAML
name: bench
inbox: ../inbox
processed: ../processed
failed: ../failed
match: { exclude: ["*.skip"] }
ready: { quiet: ${HOT_QUIET}s }
durability: ${DROPMILL_DURABILITY:-full}
stages:
  - unpack: { workers: $HOT_WORKERS }
  - checksum: { workers: $HOT_WORKERS, manifest: SHA256SUMS, into: ${DROPMILL_INTO:-sidecar} }
  - move: { to: "../output/{name}", when: "*.{zip,tar,tgz,gz,zst,xz,bz2}" }
YAML
exec "${DROPMILL:-dropmill}" run "$HOT_ROOT/.bench/bench.yaml" --state-dir "$HOT_ROOT/.bench/state"
