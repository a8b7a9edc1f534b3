#!/usr/bin/env python3
"""How time and memory grow with the number of files that wait, and with the size of an archive.

    Benchmarks/growth.py [--files N] [--largest MIB] [--folder DIR] [--binary FILE] [--plots DIR]

Up to 100,000 files and 1 GiB unless told otherwise; --files 1000000 takes some minutes, --largest 16384 as well. The
archives shrink to almost nothing, but what is unpacked takes the disk. Writes Benchmarks/results/growth.json and, where
matplotlib is there (python3-matplotlib), DIR/growth-files.png and DIR/growth-archives.png. A step that costs more than
half as much again for each file or MiB as the one before is named.
"""
import argparse, json, os, tempfile, time
import loads, throughput
from mill import CHECKSUM, Mill


class Once:
    """A store that fills a folder with a load anew: nothing is kept, so that the disk holds it once."""

    def fill(self, load, folder):
        load.make(folder)
        os.sync()


def files(folder, binary, most):
    """So many files wait at once, then are settled: for each microseconds of time and of CPU, and bytes of memory."""
    found = []
    count = 1000
    while count <= most:
        mill = Mill(folder, binary, stages=CHECKSUM, durability="fast", quiet=0.1)
        loads.small(count, size=64).make(mill.path("inbox"))
        begun = time.monotonic()
        mill.start("--once")
        cpu, memory = mill.ended()
        wall = time.monotonic() - begun
        mill.close()
        found.append({"at": count, "wall": wall / count * 1e6, "cpu": cpu / count * 1e6, "memory": memory})
        each, busy = wall / count * 1e6, cpu / count * 1e6
        print(f"{count:>9,} files   {each:8.0f} us   {busy:6.0f} us of CPU   {memory:5.0f} MiB", flush=True)
        count *= 10
    return found


def archives(folder, binary, largest):
    """One archive of that size: for each MiB milliseconds of time and of CPU, and MiB of memory."""
    found = []
    size = 1
    while size <= largest:
        load = loads.big("tar.zst", size, compressible=True)
        figures = throughput.of_mill(folder, binary, "fast", load, Once())
        wall, cpu, memory = figures["wall_s"], figures["cpu_s"], figures["peak_rss_mib"]
        found.append({"at": size, "wall": wall / size * 1e3, "cpu": cpu / size * 1e3, "memory": memory})
        each, busy = wall / size * 1e3, cpu / size * 1e3
        print(f"{size:>9,} MiB     {each:8.2f} ms   {busy:6.2f} ms of CPU   {memory:5.0f} MiB", flush=True)
        size *= 4
    return found


def steps(found, unit):
    """Those that cost much more for each than the one before; small ones are all start-up."""
    for before, after in zip(found, found[1:]):
        times = after["cpu"] / before["cpu"]
        if times > 1.5:
            yield f"from {before['at']:,} to {after['at']:,} {unit} the CPU for each grows {times:.1f} times"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--largest", type=int, default=1024)
    parser.add_argument("--folder", default="/var/tmp")
    parser.add_argument("--binary", default=".build-release/release/dropmill")
    parser.add_argument("--json", default="Benchmarks/results/growth.json")
    parser.add_argument("--plots", default="docs")
    arguments = parser.parse_args()
    binary = os.path.abspath(arguments.binary)
    found = {
        "files": files(arguments.folder, binary, arguments.files),
        "archives": archives(arguments.folder, binary, arguments.largest),
    }
    for step in [*steps(found["files"], "files"), *steps(found["archives"], "MiB")]:
        print(f"superlinear: {step}")
    os.makedirs(os.path.dirname(os.path.abspath(arguments.json)), exist_ok=True)
    with open(arguments.json, "w") as file:
        json.dump(found, file, indent=1)
    try:
        import plots
    except ImportError as error:
        print(f"no plots: {error}; apt-get install python3-matplotlib")
        return
    plots.draw(found["files"], "files that wait", "us for each", f"{arguments.plots}/growth-files.png")
    plots.draw(found["archives"], "MiB in one archive", "ms for each MiB", f"{arguments.plots}/growth-archives.png")


if __name__ == "__main__":
    main()
