#!/usr/bin/env python3
"""Compares what the libraries offer with the last release's tag, and fails at a change that breaks programs.

Usage: packaging/api.py [TAG]. Changes that are meant are listed in packaging/api-changes.txt, a line each as they are
printed here. Builds this package's libraries and those of that release.

`swift package diagnose-api-breaking-changes` does not do: it takes what is `package` for public, and does not look into
the modules that a library hands on. What it calls does the work here, too.
"""

import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / ".build/api"
ALLOWED = ROOT / "packaging/api-changes.txt"
SWIFT = shutil.which(os.environ.get("SWIFT", "swift")) or sys.exit("error: there is no swift in PATH")
DIGESTER = str(pathlib.Path(SWIFT).resolve().parent / "swift-api-digester")
TARGET = ["-target", f"{platform.machine()}-unknown-linux-gnu"]
LIBRARIES = ["FolderWatch", "Dropmill", "DropmillStages"]


def output(*command):
    """What a command prints; its failure is ours."""
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def differences(old, new):
    """What breaks programs, a line each; the digester's exit status does not say so."""
    command = [DIGESTER, "-diagnose-sdk", "-compiler-style-diags", *TARGET]
    told = subprocess.run(
        [*command, "-input-paths", str(old), "-input-paths", str(new)], check=True, capture_output=True, text=True
    ).stderr
    if "/* Removed Decls */" not in told:
        sys.exit(f"error: swift-api-digester compared nothing:\n{told}")
    return [line for line in told.splitlines() if line.startswith("API breakage: ")]


def last_tag():
    """The tag of the last release before this commit, or of it."""
    found = subprocess.run(
        ["git", "describe", "--tags", "--abbrev=0", "--match", "[0-9]*"],
        cwd=ROOT, check=False, capture_output=True, text=True,
    )
    return found.stdout.strip()


def modules(package, library):
    """The module of a library, and those that it hands on as a whole."""
    exports = package / "Sources" / library / "Exports.swift"
    text = exports.read_text() if exports.exists() else ""
    return [library, *re.findall(r"^@_exported public import (\w+)$", text, re.MULTILINE)]


def public(node):
    """A declaration without what is `package` in it."""
    for key in ("children", "accessors"):
        if key in node:
            node[key] = [public(child) for child in node[key] if not child.get("isInternal")]
    return node


def dump(package, scratch, libraries, file):
    """Writes all that is public in a package's libraries."""
    for library in libraries:
        output(
            SWIFT, "build", "--package-path", str(package), "--scratch-path", str(scratch), "--target", library,
            "--disable-build-manifest-caching",
        )
    maps = [
        *package.glob("Sources/C*/module.modulemap"), *scratch.glob("debug/*.build/module.modulemap"),
        *scratch.glob("checkouts/*/Sources/*/module.modulemap"),
        *scratch.glob("checkouts/*/Sources/*/include/module.modulemap"),
    ]
    names = sorted({name for library in libraries for name in modules(package, library)})
    output(
        DIGESTER, "-dump-sdk", "-swift-only", "-avoid-location", "-avoid-tool-args", *TARGET,
        *(word for name in names for word in ("-module", name)), "-I", str(scratch / "debug/Modules"),
        *(word for place in maps for word in ("-Xcc", f"-fmodule-map-file={place}")), "-o", str(file),
    )
    root = json.loads(file.read_text())
    public(root["ABIRoot"])
    file.write_text(json.dumps(root))


def main():
    """Compares."""
    tag = sys.argv[1] if len(sys.argv) > 1 else last_tag()
    if not tag:
        print("The API is compared with nothing: no commit before this one has the tag of a release.")
        return
    # One that the release did not have breaks nobody.
    manifest = output("git", "show", f"{tag}:Package.swift")
    libraries = [name for name in LIBRARIES if f'library(name: "{name}"' in manifest]
    if not libraries:
        print(f"The API is compared with nothing: {tag} has no libraries.")
        return
    before, old, new = WORK / "before", WORK / "old.json", WORK / "new.json"
    shutil.rmtree(before, ignore_errors=True)
    before.mkdir(parents=True)
    archive = subprocess.Popen(["git", "archive", tag], cwd=ROOT, stdout=subprocess.PIPE)
    subprocess.run(["tar", "-x", "-C", str(before)], stdin=archive.stdout, check=True)
    dump(before, WORK / "build", libraries, old)
    dump(ROOT, ROOT / ".build", libraries, new)
    breaks = differences(old, new)
    unlisted = [line for line in breaks if line not in ALLOWED.read_text().splitlines()]
    for line in unlisted:
        print(line, file=sys.stderr)
    if unlisted:
        sys.exit(f"error: {len(unlisted)} changes since {tag} break programs; undo them, or list them in {ALLOWED.name}")
    print(f"{', '.join(libraries)}: no change since {tag} breaks programs ({len(breaks)} are listed)")


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(f"error: '{' '.join(error.cmd[:3])} …' failed with status {error.returncode}")
