#!/usr/bin/env python3
"""Compiles the Swift of the documentation, so that no page shows what does not work.

Usage: packaging/compile-docs.py [PAGE…], without a name all of DocC's pages and docs/libraries.md.

The blocks of a page are one program, in their order; a block that is a manifest is one of its own.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SWIFT = os.environ.get("SWIFT", "swift")
PRODUCTS = ["FolderWatch", "Dropmill", "DropmillStages"]
BLOCK = re.compile(r"^```swift\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# One folder serves all that depend on this package; packaging/examples.sh says how.
SCRATCH = ROOT / ".build-outside"


def program(page, blocks):
    """The blocks, each at its lines of the page for the compiler's messages."""
    return "".join(f'#sourceLocation(file: "{page}", line: {line})\n{text}' for line, text in blocks)


def blocks(page):
    """The Swift of a page, with the line that each begins at."""
    text = page.read_text()
    return [(text.count("\n", 0, found.start(1)) + 1, found.group(1)) for found in BLOCK.finditer(text)]


def manifest(targets):
    """Of a package with a target for each page."""
    lines = [
        f'.executableTarget(name: "{name}", dependencies: ['
        + ", ".join(f'.product(name: "{product}", package: "dropmill")' for product in products)
        + "], swiftSettings: [.treatAllWarnings(as: .error)]),"
        for name, products in targets
    ]
    return f"""// swift-tools-version: 6.2
import PackageDescription
let package = Package(
    name: "pages", platforms: [.macOS(.v15)], dependencies: [.package(name: "dropmill", path: "{ROOT}")],
    targets: [{" ".join(lines)}])
"""


def run(*command, **settings):
    """Runs Swift; the exit status is its."""
    status = subprocess.run([SWIFT, *command], check=False, **settings).returncode
    if status != 0:
        sys.exit(status)


def main():
    """Compiles the pages."""
    pages = [pathlib.Path(name).resolve() for name in sys.argv[1:]] or sorted(
        [*ROOT.glob("Sources/*/*.docc/*.md"), *ROOT.glob("docs/libraries.md")]
    )
    package = SCRATCH / "pages"
    shutil.rmtree(package, ignore_errors=True)
    targets, count = [], 0
    for page in pages:
        name = "Page" + str(len(targets))
        found = blocks(page)
        for number, (_, text) in enumerate(b for b in found if b[1].startswith("// swift-tools-version")):
            place = package / f"{name}-manifest{number}"
            place.mkdir(parents=True)
            (place / "Package.swift").write_text(text)
            run("package", "--package-path", str(place), "dump-package", stdout=subprocess.DEVNULL)
        code = [block for block in found if not block[1].startswith("// swift-tools-version")]
        count += len(found)
        if not code:
            continue
        folder = package / "Sources" / name
        folder.mkdir(parents=True)
        (folder / "main.swift").write_text(program(page.relative_to(ROOT), code))
        imports = re.findall(r"^import (\w+)", "".join(text for _, text in code), re.MULTILINE)
        targets.append((name, [product for product in PRODUCTS if product in imports]))
    (package / "Package.swift").write_text(manifest(targets))
    run("build", "--package-path", str(package), "--scratch-path", str(SCRATCH), "--disable-build-manifest-caching")
    print(f"{count} blocks of {len(pages)} pages compile")


if __name__ == "__main__":
    main()
