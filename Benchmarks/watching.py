"""What is measured of a daemon that has little to do, or waits: single drops, slow writers, idling."""
import math, os, statistics, threading, time
from mill import MOVE, Mill
from process import Failed
from scratch import now

RESCAN = 60  # seconds between full scans while events arrive


def part(values, share):
    """The value that so large a share of them is at most; of fewer than a hundred the greatest is p99."""
    return sorted(values)[math.ceil(len(values) * share) - 1]


def quantiles(values):
    return {
        "p50": statistics.median(values),
        "p95": part(values, 0.95),
        "p99": part(values, 0.99),
        "max": max(values),
    }


def latency(folder, binary, durability, count):
    """Single drops, each written in the inbox and closed: milliseconds from there to where it is seen settled, beyond
    `quiet`. Not by the file's times: since Linux 6.13 some are of a clock that is up to a tick ahead of the others."""
    beyond = []
    with Mill(folder, binary, stages=MOVE, durability=durability) as mill:
        mill.start()
        mill.begun()
        for number in range(count):
            name = f"file-{number:06}.bin"
            with open(mill.path("inbox/" + name), "wb") as file:
                file.write(b"x" * 1024)
            closed = time.monotonic()
            target = mill.path("output/" + name)
            time.sleep(mill.quiet)
            while not os.path.exists(target):
                time.sleep(0.0002)
                if time.monotonic() - closed > 20:
                    raise Failed(f"{name} was not settled within 20 s{mill.last_words()}")
            beyond.append((time.monotonic() - closed - mill.quiet) * 1000)
            # Nothing of this one is to be under way when the next one comes.
            time.sleep(0.05)
        mill.stop()
    return {"drops": count} | quantiles(beyond)


def slow(folder, binary, writers, pieces=10):
    """Files written piece by piece, with pauses longer than `quiet` where they are held open and shorter where they are
    opened anew for each piece: how many were taken whole, and milliseconds from the last close to settled, beyond
    `quiet`. Not of those that were late themselves."""
    with Mill(folder, binary, stages=MOVE) as mill:
        mill.start()
        mill.begun()
        # Those that paused for too long, since the machine was busy: they stood still, and may have been taken.
        closed, late = {}, set()

        def hold(name):
            with open(mill.path("inbox/" + name), "wb") as file:
                for piece in range(pieces):
                    file.write(b"x" * 4096)
                    file.flush()
                    time.sleep(mill.quiet * (2.5 if piece == pieces // 2 else 0.5))
            closed[name] = now()

        def append(name):
            touched = now()
            for _ in range(pieces):
                time.sleep(mill.quiet * 0.5)
                with open(mill.path("inbox/" + name), "ab") as file:
                    if now() - touched > mill.quiet * 0.9:
                        late.add(name)
                    file.write(b"x" * 4096)
                touched = now()
            closed[name] = now()

        threads = []
        for number in range(writers):
            target = append if number % 2 else hold
            threads.append(threading.Thread(target=target, args=(f"slow-{number:03}.bin",), daemon=True))
            threads[-1].start()
        for thread in threads:
            thread.join()
        mill.wait_for(writers)
        found = {name: os.stat(mill.path("output/" + name)) for name in closed if name not in late}
        mill.stop()
    whole = sum(status.st_size == pieces * 4096 for status in found.values())
    beyond = [(status.st_ctime_ns / 1e9 - closed[name] - mill.quiet) * 1000 for name, status in found.items()]
    return {"writers": len(found), "late": len(late), "whole": whole} | quantiles(beyond)


def idle(folder, binary, count, drops, seconds):
    """Files that match nothing: part of a core in %, and memory in MiB. With none: an idle daemon. Before that so many
    drops are settled. Begins twelve seconds after the start or the last of them, when memory was given back; so each
    RESCAN seconds have one rescan."""
    with Mill(folder, binary, include="*.pdf") as mill:
        for number in range(count):
            os.close(os.open(mill.path(f"inbox/file-{number:06}.txt"), os.O_CREAT | os.O_WRONLY))
        mill.start()
        for number in range(drops):
            mill.drop(f"file-{number:06}.pdf", b"x" * 1024)
        mill.wait_for(drops)
        time.sleep(12)
        started = mill.cpu()
        time.sleep(seconds)
        cpu = (mill.cpu() - started) / seconds * 100
        memory = mill.memory()
        mill.stop()
    return {
        "files": count,
        "drops": drops,
        "seconds": seconds,
        "rescans": seconds // RESCAN,
        "cpu_percent": cpu,
        "rss_mib": memory,
    }


def waiting(folder, binary, count):
    """Files that have yet to stand still: memory in MiB once all are known and nothing is computed any more, and at
    most."""
    with Mill(folder, binary, quiet=3600) as mill:
        for number in range(count):
            with open(mill.path(f"inbox/file-{number:06}.bin"), "wb") as file:
                file.write(b"x")
        mill.start()
        # One still second may be one that waits for the disk.
        before, still = mill.cpu(), 0
        while still < 5:
            time.sleep(1)
            after = mill.cpu()
            still = still + 1 if after - before < 0.02 else 0
            before = after
        result = {"files": count, "rss_mib": mill.memory(), "peak_rss_mib": mill.memory("VmHWM")}
        known = mill.known()
        if known != count:
            raise Failed(f"{known} of {count} files are known to wait{mill.last_words()}")
        mill.stop()
    return result
