"""Whether the daemon published and recorded what the plain tools did."""
import hashlib, os
from process import Failed


def same(mill, limit):
    """Compares the recorded digests of both, and those with the files that the daemon published."""
    expected, recorded = _recorded(limit), _recorded(mill)
    if not expected:
        raise Failed("openssl recorded no digest")
    for name in sorted(expected.keys() | recorded.keys()):
        if expected.get(name) != recorded.get(name):
            raise Failed(f"{name}: digest {recorded.get(name)}, but openssl says {expected.get(name)}")
        if _digest(mill, name) != expected[name]:
            raise Failed(f"{name}: what was published is not what was dropped")
    return len(expected)


def _recorded(scratch):
    """Digests by name; those in an archive by its name and theirs."""
    found = {}
    for place in ("processed", "output"):
        base = scratch.path(place)
        for folder, _, names in os.walk(base):
            for name in names:
                if name.endswith(".sha256") or name == "SHA256SUMS":
                    with open(f"{folder}/{name}") as lines:
                        for line in lines:
                            # openssl's mark of binary files, and find's of the folder.
                            digest, path = line.rstrip("\n").split(maxsplit=1)
                            path = os.path.join(os.path.relpath(folder, base), path.removeprefix("*"))
                            found[os.path.normpath(path)] = digest
    return found


def _digest(scratch, name):
    path = scratch.path(f"output/{name}")
    if not os.path.exists(path):
        path = scratch.path(f"processed/{name}")
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()
