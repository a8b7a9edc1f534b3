"""One load through the daemon, and through the plain tools."""
import os, time
from limit import Limit
from mill import ARCHIVES, CHECKSUM, Mill


def of_mill(folder, binary, durability, load, store):
    """Renames the load into the inbox of a daemon that runs already. Wall time is from the first rename to the last
    drop that was settled, without `quiet`; CPU and memory are those of the daemon and its helpers from start to end."""
    mill = Mill(folder, binary, stages=ARCHIVES if load.archives else CHECKSUM, durability=durability)
    store.fill(load, mill.path("outside"))
    mill.start()
    mill.begun()
    names = sorted(os.listdir(mill.path("outside")))
    begun = time.time()
    for name in names:
        os.rename(mill.path("outside/" + name), mill.path("inbox/" + name))
    mill.wait_for(load.count)
    wall = mill.last_arrival() - begun - mill.quiet
    cpu, memory = mill.stop()
    mill.close()
    return result(load, wall, cpu, memory)


def of_limit(folder, load, store):
    """The same bytes by the plain tools."""
    limit = Limit(folder)
    store.fill(load, limit.path("inbox"))
    wall, cpu, memory = limit.run(load)
    limit.close()
    return result(load, wall, cpu, memory)


def result(load, wall, cpu, memory):
    return {
        "wall_s": wall,
        "rate": load.count / wall,
        "cpu_s": cpu,
        "cpu_us_per_drop": cpu / load.count * 1e6,
        "peak_rss_mib": memory,
    }
