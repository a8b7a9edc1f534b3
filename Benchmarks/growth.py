#!/usr/bin/env python3
"""How time and memory grow with the number of files that wait, and with the size of an archive.

    Benchmarks/growth.py [--files N] [--largest MIB] [--folder DIR] [--binary FILE] [--json FILE] [--plots DIR]

Up to 100,000 files and 1 GiB unless told otherwise; --files 1000000 takes some minutes, --largest 16384 as well. The
archives shrink to almost nothing, but what is unpacked takes the disk. Writes Benchmarks/results/growth.json after each
step and, where matplotlib is there (python3-matplotlib), DIR/growth-files.png and DIR/growth-archives.png.

Each file or MiB that a step adds should cost what it cost before. Where it costs more than half as much again as in the
cheapest earlier step, the step is named; for CPU the exit status is then 1, as it is where something fails.
"""
import argparse, os, sys, time
import loads, process, report, throughput
from mill import Mill, archives

LIMITS = ", max_ratio: 1000000, max_bytes: 1TiB"
STEEP = 1.5
# Seconds that a step must add before it is judged: less is start-up and chance.
LEAST = 0.2


class Once:
    """A store that fills a folder with a load anew: nothing is kept, so that the disk holds it once."""

    def fill(self, load, folder):
        load.make(folder)
        os.sync()


def of_files(folder, binary, count):
    """So many files wait at once, then are settled; with start, stop and `quiet`."""
    with Mill(folder, binary, durability="fast", quiet=0.1) as mill:
        loads.small(count, size=64).make(mill.path("inbox"))
        os.sync()
        load_before = os.getloadavg()[0]
        begun = time.monotonic()
        cpu, memory = mill.run_once()
        wall = time.monotonic() - begun
    return {"wall_s": wall, "cpu_s": cpu, "peak_rss_mib": memory, "load_before": load_before}


def of_archive(folder, binary, size):
    """One archive of so many MiB."""
    load = loads.big("tar.zst", size, compressible=True)
    with Mill(folder, binary, stages=archives(LIMITS), durability="fast") as mill:
        return throughput.of_mill(mill, load, Once())


def steep(found, key):
    """Steps in which each that came along cost much more than in the cheapest step before."""
    cheapest = None
    for before, after in zip(found, found[1:]):
        added = after[key] - before[key]
        if added < LEAST:
            continue
        each = added / (after["at"] - before["at"])
        if cheapest and each > STEEP * cheapest:
            yield before["at"], after["at"], each / cheapest
        cheapest = min(each, cheapest or each)


def grown(measure, at, most, times, show):
    while at <= most:
        step = {"at": at} | measure(at)
        print(f"{show(step)}   {step['peak_rss_mib']:5.0f} MiB of memory", flush=True)
        yield step
        at *= times


def show_files(step):
    wall, cpu = (step[key] / step["at"] * 1e6 for key in ("wall_s", "cpu_s"))
    return f"{step['at']:>9,} files   {wall:8.0f} us   {cpu:6.0f} us of CPU for each"


def show_archive(step):
    wall, cpu = (step[key] / step["at"] * 1e3 for key in ("wall_s", "cpu_s"))
    return f"{step['at']:>9,} MiB     {wall:8.2f} ms   {cpu:6.2f} ms of CPU for each"


def judge(found):
    """Names what is steep; whether CPU is."""
    bad = False
    for kind, unit in (("files", "files"), ("archives", "MiB")):
        for key, what in (("cpu_s", "CPU"), ("wall_s", "time")):
            for before, after, times in steep(found[kind], key):
                print(f"superlinear: from {before:,} to {after:,} {unit} one more costs {times:.1f} times the {what}")
                bad = bad or key == "cpu_s"
    return bad


def draw(found, folder):
    try:
        import plots
    except ImportError as error:
        print(f"no plots: {error}; apt-get install python3-matplotlib")
        return
    os.makedirs(folder, exist_ok=True)
    plots.draw(found["files"], "files that wait", "us for each", 1e6, f"{folder}/growth-files.png")
    plots.draw(found["archives"], "MiB in one archive", "ms for each MiB", 1e3, f"{folder}/growth-archives.png")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--largest", type=int, default=1024)
    parser.add_argument("--folder", default="/var/tmp")
    parser.add_argument("--binary", default=".build-release/release/dropmill")
    parser.add_argument("--json", default="Benchmarks/results/growth.json")
    parser.add_argument("--plots", default="docs")
    arguments = parser.parse_args()
    process.clean_up_when_told_to_end()
    folder, binary = arguments.folder, os.path.abspath(arguments.binary)
    found = {"machine": report.machine(folder), "files": [], "archives": []}
    parts = (
        ("files", grown(lambda at: of_files(folder, binary, at), 1000, arguments.files, 10, show_files)),
        ("archives", grown(lambda at: of_archive(folder, binary, at), 1, arguments.largest, 4, show_archive)),
    )
    failed = False
    for kind, steps in parts:
        try:
            for step in steps:
                found[kind].append(step)
                report.write(arguments.json, found)
        except (process.Failed, OSError) as error:
            print(f"{kind} FAILED: {error}")
            failed = True
    failed = judge(found) or failed
    if found["files"] and found["archives"]:
        draw(found, arguments.plots)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
