#!/usr/bin/env python3
"""Measures how fast archives are unpacked beside `bsdtar -xf`, in runs that take turns.

    make release
    Benchmarks/unpacking.py [small] [zip] [tar.gz] [tar.zst] [many] [--rounds N] [--folder DIR] [--binary FILE]

Without a name all are measured:
  small    a zip of 20,000 files of 1 KiB (promised: at least 1.5 times as fast)
  zip      a zip of eight files of 128 MiB (at least 1.5 times as fast)
  tar.gz   the same as tar.gz (at most 1.1 times the time)
  tar.zst  the same as tar.zst (at most 1.1 times the time)
  many     1,000 zips of 100 files of 16 KiB, unpacked, listed and moved, beside two processes that run `bsdtar`,
           `sha256sum` and `mv` for one after another (at most 1.3 times the time)

But for `many`, Dropmill's time is that of the stage `unpack` as the journal has it: helper, sandbox, and the look over
what it left included. `bsdtar` is timed from start to end. Medians of the rounds are compared. What was unpacked stays
until the end, since ext4 makes new files dearer for minutes after many were deleted. Needs Python, bsdtar and 12 GiB.
"""
import argparse, contextlib, json, os, shutil, statistics, subprocess, tempfile
import loads, throughput
from digests import run
from mill import Mill, stages_for

PIPELINE = """
inbox: ../inbox
processed: ../processed
failed: ../failed
ready: { quiet: 1ms }
min_free: 0
durability: fast
stages: [unpack, move: { to: ../output }]
"""


def small(path):
    with open(path, "wb") as file:
        file.write(loads.zip_of(1, 20_000, 1024))


def of_eight(kind):
    def make(path):
        folder = tempfile.mkdtemp(dir=os.path.dirname(path))
        loads.big(kind, 1024).make(folder)
        os.rename(f"{folder}/big.{kind}", path)
        os.rmdir(folder)

    return make


KINDS = {
    "small": (small, "zip", "at least 1.5 times as fast"),
    "zip": (of_eight("zip"), "zip", "at least 1.5 times as fast"),
    "tar.gz": (of_eight("tar.gz"), "tar.gz", "at least 0.91 times as fast"),
    "tar.zst": (of_eight("tar.zst"), "tar.zst", "at least 0.91 times as fast"),
}


def of_bsdtar(root, archive):
    folder = tempfile.mkdtemp(prefix="bsdtar-", dir=root)
    os.sync()
    wall, _ = run("bsdtar", "-xf", archive, "-C", folder)
    return wall


def of_unpack(root, archive, binary):
    mill = tempfile.mkdtemp(prefix="unpack-", dir=root)
    for name in ("inbox", "pipelines"):
        os.mkdir(f"{mill}/{name}")
    with open(f"{mill}/pipelines/p.yaml", "w") as file:
        file.write(PIPELINE)
    shutil.copyfile(archive, f"{mill}/inbox/{os.path.basename(archive)}")
    os.sync()
    run(binary, "run", "--once", f"{mill}/pipelines", "--state-dir", f"{mill}/state", "--log-level", "warning")
    name = os.path.basename(archive)
    story = json.loads(subprocess.check_output([binary, "show", name, "--json", "--state-dir", f"{mill}/state"]))
    return next(event for event in story["history"] if event.get("stage") == "unpack")["duration_s"]


def measure(name, root, binary, rounds):
    make, suffix, promise = KINDS[name]
    archive = f"{root}/{name}.{suffix}" if name == "small" else f"{root}/eight.{suffix}"
    make(archive)
    taken = [(of_bsdtar(root, archive), of_unpack(root, archive, binary)) for _ in range(rounds)]
    theirs, ours = (statistics.median(column) for column in zip(*taken))
    ratio = theirs / ours
    print(f"{name}: bsdtar {theirs:.2f} s, unpack {ours:.2f} s: {ratio:.2f} times as fast ({promise})", flush=True)
    print("  rounds: " + ", ".join(f"{theirs:.2f}/{ours:.2f}" for theirs, ours in taken), flush=True)


# $1: a folder with `inbox`.
TOOLS = """
cd "$1" && mkdir output processed && ls inbox | xargs -P2 -n8 sh -c 'for n; do
    mkdir "output/$n" && bsdtar -xf "inbox/$n" -C "output/$n" &&
        (cd "output/$n" && find . -type f -exec sha256sum {} + >SHA256SUMS) && mv "inbox/$n" processed || exit 255
done' sh
"""


def many(root, binary, rounds):
    load = loads.zips(1000, 100, size=16384)
    found = {"tools": [], "full": [], "fast": []}
    with contextlib.ExitStack() as kept:
        store = kept.enter_context(loads.Store(root))
        for _ in range(rounds):
            tools = tempfile.mkdtemp(prefix="tools-", dir=root)
            os.mkdir(f"{tools}/inbox")
            store.fill(load, f"{tools}/inbox")
            found["tools"].append(run("sh", "-c", TOOLS, "tools", tools)[0])
            for durability in ("full", "fast"):
                mill = kept.enter_context(Mill(root, binary, stages=stages_for(load), durability=durability))
                found[durability].append(throughput.of_mill(mill, load, store)["wall_s"])
    theirs = statistics.median(found["tools"])
    for durability in ("full", "fast"):
        ours = statistics.median(found[durability])
        print(f"many, {durability}: tools {theirs:.2f} s, Dropmill {ours:.2f} s: {ours / theirs:.2f} times (at most 1.3)")
    rounds = ("/".join(f"{taken:.2f}" for taken in row) for row in zip(*found.values()))
    print("  rounds: " + ", ".join(rounds), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", help=", ".join([*KINDS, "many"]))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", default="/var/tmp")
    parser.add_argument("--binary", default=".build-release/release/dropmill")
    arguments = parser.parse_args()
    for name in arguments.what or [*KINDS, "many"]:
        if name not in KINDS and name != "many":
            parser.error(f"there is no '{name}'; known are {', '.join(KINDS)}, many")
        root = tempfile.mkdtemp(prefix="dropmill-unpacking-", dir=arguments.folder)
        try:
            binary = os.path.abspath(arguments.binary)
            if name == "many":
                many(root, binary, arguments.rounds)
            else:
                measure(name, root, binary, arguments.rounds)
        finally:
            shutil.rmtree(root)


if __name__ == "__main__":
    main()
