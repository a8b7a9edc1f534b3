"""System calls and syncs for each drop, by `strace -f -c` on runs of their own: what is traced is slow, so nothing is
timed there. Two runs, one over twice as many drops; the difference is free of what starting and stopping take."""
from limit import Limit
from mill import ARCHIVES, CHECKSUM, Mill
import loads

SYNCS = {"fsync", "fdatasync", "syncfs", "sync_file_range", "msync", "sync"}


def small(folder, binary, durability, count=200):
    """For each small file: (calls, syncs, the calls by name). `durability` None: the plain tools."""
    return _difference(folder, binary, durability, lambda n: loads.small(n), count)


def archives(folder, binary, durability, count=10, entries=100):
    """The same for each archive."""
    return _difference(folder, binary, durability, lambda n: loads.zips(n, entries), count)


def _difference(folder, binary, durability, load, count):
    fewer, more = (_run(folder, binary, durability, load(number)) for number in (count, 2 * count))
    calls = {name: (more.get(name, 0) - fewer.get(name, 0)) / count for name in more}
    calls = {name: each for name, each in sorted(calls.items(), key=lambda call: -call[1]) if each >= 0.05}
    # A batch has one sync, so small shares count too.
    syncs = sum(more.get(name, 0) - fewer.get(name, 0) for name in SYNCS) / count
    return sum(calls.values()), max(0, syncs), calls


def _run(folder, binary, durability, load):
    if durability is None:
        contender = Limit(folder)
    else:
        stages = ARCHIVES if load.archives else CHECKSUM
        contender = Mill(folder, binary, stages=stages, durability=durability, quiet=0.05)
    trace = contender.path("trace")
    wrapper = ["strace", "-f", "-c", "-qq", "-o", trace]
    load.make(contender.path("inbox"))
    if durability is None:
        contender.run(load, wrapper)
    else:
        contender.start("--once", wrapper=wrapper)
        contender.ended()
    calls = {}
    with open(trace) as lines:
        for line in lines:
            # "  0.53    0.000021          10         2         1 name": the errors may be left out.
            words = line.split()
            if len(words) >= 5 and words[0].replace(".", "").isdigit() and words[-1] != "total":
                calls[words[-1]] = int(words[3])
    contender.close()
    return calls
