"""What is measured of a daemon that has little to do, or waits: single drops, slow writers, idling, starting."""
import os, sqlite3, statistics, threading, time
from mill import CHECKSUM, MOVE, Mill


def part(values, share):
    """The value that so large a share of them is at most."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def quantiles(values):
    return {
        "p50": statistics.median(values),
        "p95": part(values, 0.95),
        "p99": part(values, 0.99),
        "max": max(values),
    }


def latency(folder, binary, durability, count):
    """Single drops, each written in the inbox and closed: milliseconds from there to settled, beyond `quiet`."""
    mill = Mill(folder, binary, stages=MOVE, durability=durability)
    mill.start()
    mill.begun()
    beyond = []
    for number in range(count):
        name = f"file-{number:06}.bin"
        with open(mill.path("inbox/" + name), "wb") as file:
            file.write(b"x" * 1024)
        closed = time.time()
        target = mill.path("output/" + name)
        time.sleep(mill.quiet)
        while not os.path.exists(target):
            time.sleep(0.001)
            if time.time() - closed > 20:
                raise SystemExit(f"{name} was not settled within 20 s")
        # The rename set its ctime, however late it is seen here.
        beyond.append((os.stat(target).st_ctime_ns / 1e9 - closed - mill.quiet) * 1000)
    mill.stop()
    mill.close()
    return quantiles(beyond)


def slow(folder, binary, writers, pieces=10):
    """Files written piece by piece, with pauses longer than `quiet` where they are held open and shorter where they are
    opened anew for each piece: how many were taken whole, and milliseconds from the last close to settled, beyond
    `quiet`."""
    mill = Mill(folder, binary, stages=MOVE)
    mill.start()
    mill.begun()
    closed = {}

    def hold(name):
        with open(mill.path("inbox/" + name), "wb") as file:
            for piece in range(pieces):
                file.write(b"x" * 4096)
                file.flush()
                time.sleep(mill.quiet * (2.5 if piece == pieces // 2 else 0.5))
        closed[name] = time.time()

    def append(name):
        for _ in range(pieces):
            time.sleep(mill.quiet * 0.5)
            with open(mill.path("inbox/" + name), "ab") as file:
                file.write(b"x" * 4096)
        closed[name] = time.time()

    threads = []
    for number in range(writers):
        target = append if number % 2 else hold
        threads.append(threading.Thread(target=target, args=(f"slow-{number:03}.bin",)))
        threads[-1].start()
    for thread in threads:
        thread.join()
    mill.wait_for(writers)
    found = {name: os.stat(mill.path("output/" + name)) for name in closed}
    whole = sum(status.st_size == pieces * 4096 for status in found.values())
    beyond = [(status.st_ctime_ns / 1e9 - closed[name] - mill.quiet) * 1000 for name, status in found.items()]
    mill.stop()
    mill.close()
    return {"writers": writers, "whole": whole} | quantiles(beyond)


def idle(folder, binary, count, seconds):
    """Files that match nothing: part of a core between scans, in %, and memory in MiB. With none: an idle daemon."""
    mill = Mill(folder, binary, include="*.pdf")
    for number in range(count):
        os.close(os.open(mill.path(f"inbox/file-{number:06}.txt"), os.O_CREAT | os.O_WRONLY))
    mill.start()
    time.sleep(3)
    started = mill.cpu()
    time.sleep(seconds)
    result = {"files": count, "cpu_percent": (mill.cpu() - started) / seconds * 100, "rss_mib": mill.memory("VmRSS")}
    mill.stop()
    mill.close()
    return result


def waiting(folder, binary, count):
    """Files that have yet to stand still: memory in MiB once all are known, and at most."""
    mill = Mill(folder, binary, quiet=3600)
    for number in range(count):
        with open(mill.path(f"inbox/file-{number:06}.bin"), "wb") as file:
            file.write(b"x")
    mill.start()
    before = -1.0
    while mill.cpu() - before > 0.02:
        before = mill.cpu()
        time.sleep(1)
    result = {"files": count, "rss_mib": mill.memory("VmRSS"), "peak_rss_mib": mill.memory("VmHWM")}
    mill.stop()
    mill.close()
    return result


def start(folder, binary, rows):
    """Milliseconds from the start of the program to its first claim, of a drop that lay there, beyond `quiet`; the
    journal has so many rows of history."""
    mill = Mill(folder, binary, stages=CHECKSUM, quiet=0.001)
    if rows:
        with open(mill.path("inbox/first.bin"), "wb") as file:
            file.write(b"x")
        mill.start("--once")
        mill.ended()
        _add_history(mill.path("state/journal.sqlite"), rows)
    taken = []
    for number in range(5):
        with open(mill.path(f"inbox/drop-{number}.bin"), "wb") as file:
            file.write(b"x")
        begun = time.time()
        mill.start("--once")
        mill.ended()
        taken.append((max(mill.claims()) - begun - mill.quiet) * 1000)
    mill.close()
    return {"rows": rows, "first_claim_ms": statistics.median(taken)}


def _add_history(path, rows):
    """Copies the one job so often."""
    journal = sqlite3.connect(path)
    columns = [row[1] for row in journal.execute("PRAGMA table_info(jobs)") if row[1] != "id"]
    names = ", ".join(columns)
    journal.execute(
        f"""
        WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)
        INSERT INTO jobs (id, {names}) SELECT printf('00%024d', n), {names} FROM numbers, (SELECT * FROM jobs LIMIT 1)
        """,
        [rows],
    )
    journal.execute("UPDATE totals SET count = count + ?", [rows])
    journal.commit()
    journal.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    journal.close()
