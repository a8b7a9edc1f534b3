"""One load through the daemon, and through the plain tools."""
import contextlib, os, statistics
import verify
from limit import Limit
from mill import Mill, stages_for
from scratch import now


def of_mill(mill, load, store):
    """Renames the load into the inbox of a daemon that runs already. Wall time is from the first rename to the last
    drop that was settled, without `quiet`; CPU and memory are those of the daemon and its helpers from start to end."""
    store.fill(load, mill.path("outside"))
    run = {"load_before": os.getloadavg()[0]}
    mill.start()
    mill.begun()
    names = sorted(os.listdir(mill.path("outside")))
    begun = now()
    for name in names:
        os.rename(mill.path("outside/" + name), mill.path("inbox/" + name))
    mill.wait_for(load.count)
    wall = mill.last_arrival() - begun - mill.quiet
    return run | _result(load, wall, *mill.stop())


def of_limit(limit, load, store):
    """The same bytes by the plain tools."""
    store.fill(load, limit.path("inbox"))
    run = {"load_before": os.getloadavg()[0]}
    return run | _result(load, *limit.run(load))


def _result(load, wall, cpu, memory):
    return {
        "wall_s": wall,
        "rate": load.count / wall,
        "cpu_s": cpu,
        "cpu_us_per_drop": cpu / load.count * 1e6,
        "peak_rss_mib": memory,
    }


# What is added to the name of a durability where digests go into one list in place of a sidecar each.
LIST = "-list"


def compared(folder, binary, durabilities, load, store, rounds):
    """Rounds of one after another (A B C A B C), so that what changes on the machine meets all. Medians of each, and of
    the ratios to the limit in the same round. What was settled stays until the last round is over, as long as the disk
    holds one more: ext4 is slow at new files after many were removed, which would meet only those who come next."""
    contenders = [(name, name, False) for name in durabilities]
    if not load.archives:
        contenders += [(name + LIST, name, True) for name in durabilities]
    found = {name: [] for name in ("limit", *(name for name, _, _ in contenders))}
    with contextlib.ExitStack() as kept:
        taken = (0, 0)
        for number in range(rounds):
            left = _free(folder)
            if any(has < 1.2 * needs for has, needs in zip(left, taken)):
                kept.close()
                os.sync()
                left = _free(folder)
            limit = kept.enter_context(Limit(folder))
            found["limit"].append(of_limit(limit, load, store))
            for name, durability, into_list in contenders:
                stages = stages_for(load, into_list)
                mill = kept.enter_context(Mill(folder, binary, stages=stages, durability=durability))
                found[name].append(of_mill(mill, load, store))
                if number == 0:
                    verify.same(mill, limit)
            taken = [before - after for before, after in zip(left, _free(folder))]
    return {name: _medians(runs, found["limit"]) for name, runs in found.items()}


def _medians(runs, limits):
    return {key: statistics.median(run[key] for run in runs) for key in runs[0] if key != "load_before"} | {
        "ratios": {
            key: statistics.median(run[key] / limit[key] for run, limit in zip(runs, limits))
            for key in limits[0] if key != "load_before"
        },
        "rounds": runs,
    }


def _free(folder):
    """Bytes and files that the file system has room for."""
    status = os.statvfs(folder)
    return status.f_bavail * status.f_frsize, status.f_favail
