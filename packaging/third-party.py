#!/usr/bin/env python3
"""Writes what is told of other people's work in the program: THIRD-PARTY-NOTICES (their licences, word for word) and
packaging/dropmill.spdx.json (SPDX 2.3: names, versions, revisions). Made from Package.resolved and the checkouts of
`swift package resolve`; the libraries of the system are those that Sources/C*/module.modulemap link or load.
Tests/ArchitectureTests fails when the two files are behind. Usage: packaging/third-party.py"""

import datetime
import hashlib
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
NOTICES = ROOT / "THIRD-PARTY-NOTICES"
SPDX = ROOT / "packaging" / "dropmill.spdx.json"

APACHE = "Apache-2.0"
SWIFT = "Apache-2.0 WITH Swift-exception"
# Read off the licences by a person: a package that is not here has to be looked at first.
LICENCES = {
    "async-http-client": ("async-http-client", APACHE),
    "hummingbird": ("hummingbird", APACHE),
    "swift-algorithms": ("swift-algorithms", SWIFT),
    "swift-argument-parser": ("swift-argument-parser", SWIFT),
    "swift-asn1": ("swift-asn1", APACHE),
    "swift-async-algorithms": ("swift-async-algorithms", SWIFT),
    "swift-atomics": ("swift-atomics", SWIFT),
    "swift-certificates": ("swift-certificates", APACHE),
    "swift-collections": ("swift-collections", SWIFT),
    "swift-configuration": ("swift-configuration", APACHE),
    "swift-crypto": ("swift-crypto", APACHE),
    "swift-distributed-tracing": ("swift-distributed-tracing", APACHE),
    "swift-http-structured-headers": ("swift-http-structured-headers", APACHE),
    "swift-http-types": ("swift-http-types", APACHE),
    "swift-log": ("swift-log", APACHE),
    "swift-metrics": ("swift-metrics", APACHE),
    "swift-nio": ("swift-nio", APACHE),
    "swift-nio-extras": ("swift-nio-extras", APACHE),
    "swift-nio-http2": ("swift-nio-http2", APACHE),
    "swift-nio-ssl": ("swift-nio-ssl", APACHE),
    "swift-nio-transport-services": ("swift-nio-transport-services", APACHE),
    "swift-numerics": ("swift-numerics", SWIFT),
    "swift-service-context": ("swift-service-context", APACHE),
    "swift-service-lifecycle": ("swift-service-lifecycle", APACHE),
    "swift-system": ("swift-system", SWIFT),
}
# What the module maps say.
LIBRARIES = {
    "archive": ("libarchive", "BSD-2-Clause"),
    "crypto": ("OpenSSL", "Apache-2.0"),
    "curl": ("libcurl", "curl"),
    "isal": ("ISA-L", "BSD-3-Clause"),
    "magic": ("libmagic", "BSD-2-Clause"),
    "pq": ("libpq", "PostgreSQL"),
    "sqlite3": ("SQLite", "blessing"),
    "xxhash": ("xxHash", "BSD-2-Clause"),
    "yaml": ("libyaml", "MIT"),
}
# Comes with the compiler, and is linked in statically.
RUNTIME = [
    ("Swift runtime", SWIFT, "https://www.swift.org", "the standard library, Dispatch and FoundationEssentials"),
]
# What a package has copied into itself, under the licence of that package.
COPIED = [
    (
        "BoringSSL", "swift-nio-ssl", "https://boringssl.googlesource.com/boringssl",
        "TLS and its cryptography, in swift-nio-ssl, with the fiat-crypto that it contains",
        "Sources/CNIOBoringSSL/hash.txt", r"\b([0-9a-f]{40})\b",
    ),
]


def copied(pins):
    """The same of what is in COPIED: (name, licence, revision, address, what it is), with the package that has it."""
    for name, parent, location, what, file, pattern in COPIED:
        licence, folder = next((licence, folder) for pin, licence, _, _, _, folder in pins if pin == parent)
        found = re.search(pattern, (folder / file).read_text())
        if not found:
            sys.exit(f"error: {folder / file} does not say which {name} it is")
        yield (name, licence, found[1], location, what), parent


def resolved():
    """The pins: (name, licence, version, revision, address, folder), by name."""
    pins = json.loads((ROOT / "Package.resolved").read_text())["pins"]
    unknown = [pin["identity"] for pin in pins if pin["identity"] not in LICENCES]
    if unknown:
        sys.exit(f"error: no licence is known of {', '.join(unknown)}; read it and add it to LICENCES in {__file__}")
    for pin in sorted(pins, key=lambda pin: pin["identity"]):
        name, licence = LICENCES[pin["identity"]]
        state, folder = pin["state"], ROOT / ".build" / "checkouts" / name
        if not folder.is_dir():
            sys.exit(f"error: {folder} is missing; run 'swift package resolve'")
        yield name, licence, state["version"], state["revision"], pin["location"], folder


def linked():
    """The libraries of the system that are linked or loaded, by what the linker calls them."""
    maps = "".join(path.read_text() for path in ROOT.glob("Sources/C*/module.modulemap"))
    return sorted(set(re.findall(r'^\s*(?:link|// loads) "(\w+)"', maps, re.MULTILINE)))


def notices(pins):
    """The text of THIRD-PARTY-NOTICES: each licence once, below the names of all that have it."""
    parts, licences, inside = [], {}, list(copied(pins))
    for name, licence, version, _, location, folder in pins:
        text = "\n".join(path.read_text().strip("\n") + "\n" for path in sorted(folder.glob("LICENSE*")))
        owners = [f"{name} {version}"] + [copy[0] for copy, parent in inside if parent == name]
        licences.setdefault(text, []).extend(owners)
        parts.append(f"{name} {version} ({licence})\n{location}\n")
        parts += [path.read_text().strip("\n") + "\n" for path in sorted(folder.glob("NOTICE*"))]
        if licence == SWIFT:
            of_swift = text
    for (name, licence, revision, location, what), _ in inside:
        parts.append(f"{name} {revision}: {what} ({licence})\n{location}\n")
    for name, licence, location, what in RUNTIME:
        licences.setdefault(of_swift, []).append(name)
        parts.append(f"{name}: {what} ({licence})\n{location}\n")
    rule = "=" * 78 + "\n"
    libraries = ", ".join(LIBRARIES[library][0] for library in linked())
    return "\n".join([
        "Dropmill contains the work of others. These are their names, their notices and their licences.\n"
        "packaging/third-party.py writes this file.\n",
        *parts,
        f"Libraries of the system, which Dropmill uses and does not contain:\n{libraries}\n",
        *(f"{rule}The licence of {', '.join(names)}\n{rule}\n{text}" for text, names in licences.items()),
    ])


def package(name, licence, location, **more):
    """A package as SPDX has it."""
    return {
        "SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name), "name": name,
        "downloadLocation": location, "filesAnalyzed": False, "licenseConcluded": licence, "licenseDeclared": licence,
        "copyrightText": "NOASSERTION", **more,
    }


def spdx(pins):
    """The SPDX document but for the time it was made at."""
    version = (ROOT / "VERSION").read_text().strip()
    own = package("dropmill", APACHE, "NOASSERTION", versionInfo=version, primaryPackagePurpose="APPLICATION")
    inside = [
        package(
            name, licence, f"git+{location}@{revision}", versionInfo=version,
            externalRefs=[{
                "referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                "referenceLocator": f"pkg:swift/{location.removeprefix('https://')}@{version}",
            }])
        for name, licence, version, revision, location, _ in pins
    ] + [package(name, licence, location, comment=what) for name, licence, location, what in RUNTIME]
    inside += [
        package(name, licence, location, versionInfo=revision, comment=what)
        for (name, licence, revision, location, what), _ in copied(pins)
    ]
    beside = [
        package(*LIBRARIES[library], "NOASSERTION", primaryPackagePurpose="LIBRARY", comment=f"lib{library}, of the system")
        for library in linked()
    ]
    links = [(own, "STATIC_LINK", part) for part in inside] + [(own, "DYNAMIC_LINK", part) for part in beside]
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"dropmill-{version}",
        "packages": [own, *inside, *beside],
        "relationships": [
            {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": own["SPDXID"]},
            *({"spdxElementId": whole["SPDXID"], "relationshipType": how, "relatedSpdxElement": part["SPDXID"]}
              for whole, how, part in links),
        ],
    }
    digest = hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
    document["documentNamespace"] = f"https://spdx.org/spdxdocs/dropmill-{version}-{digest}"
    return document


def main():
    pins = list(resolved())
    NOTICES.write_text(notices(pins))
    document = spdx(pins)
    # The time changes with the contents alone, so that the same contents are the same file.
    before = json.loads(SPDX.read_text()) if SPDX.exists() else {}
    if before.get("documentNamespace") != document["documentNamespace"]:
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        document["creationInfo"] = {"created": now, "creators": ["Tool: packaging/third-party.py"]}
        SPDX.write_text(json.dumps(document, indent=2) + "\n")


main()
