#!/usr/bin/env python3
"""Gives the only image of an OCI layout a health check. usage: health.py LAYOUT"""
import hashlib
import json
import pathlib
import sys

layout = pathlib.Path(sys.argv[1])


def load(descriptor):
    return json.loads((layout / "blobs" / descriptor["digest"].replace(":", "/")).read_bytes())


def store(descriptor, value):
    """Puts it in as a blob of its own, which is what the descriptor then says."""
    data = json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
    digest = hashlib.sha256(data).hexdigest()
    (layout / "blobs" / "sha256" / digest).write_bytes(data)
    descriptor.update(digest=f"sha256:{digest}", size=len(data))


index = json.loads((layout / "index.json").read_text())
manifest = load(index["manifests"][0])
config = load(manifest["config"])
seconds = 1_000_000_000
config["config"]["Healthcheck"] = {
    "Test": ["CMD", "/usr/bin/dropmill", "health", "--state-dir", "/var/lib/dropmill"],
    "Interval": 30 * seconds,
    "Timeout": 10 * seconds,
    "StartPeriod": 60 * seconds,
    "Retries": 3,
}
store(manifest["config"], config)
store(index["manifests"][0], manifest)
(layout / "index.json").write_text(json.dumps(index, sort_keys=True))
