"""How long the program takes from its start to its first claim."""
import os, statistics
from mill import Mill
from scratch import now

RUNS = 5


def start(folder, binary, rows):
    """Milliseconds from the start of the program to its claim of a drop that lay there, beyond `quiet`. The journal has
    so many rows of history, of which nothing is in the page cache; with none there is no journal yet."""
    taken = []
    if rows:
        with _mill(folder, binary) as mill:
            _lay(mill)
            mill.run_once()
            _add_history(mill, rows)
            for _ in range(RUNS):
                _forget(mill.path("state"))
                taken.append(_first_claim(mill))
    else:
        for _ in range(RUNS):
            with _mill(folder, binary) as mill:
                taken.append(_first_claim(mill))
    return {"rows": rows, "first_claim_ms": statistics.median(taken), "worst_ms": max(taken)}


def _mill(folder, binary):
    return Mill(folder, binary, quiet=0.001)


def _lay(mill):
    with open(mill.path("inbox/drop.bin"), "wb") as file:
        file.write(b"x")


def _first_claim(mill):
    for name in os.listdir(mill.path("processed")):
        os.unlink(mill.path(f"processed/{name}"))
    _lay(mill)
    begun = now()
    mill.run_once()
    return (mill.last_claim() - begun - mill.quiet) * 1000


def _forget(folder):
    """Drops what is in its files from the page cache, which lets go only of what is on the disk."""
    for name in os.listdir(folder):
        with open(f"{folder}/{name}", "rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _add_history(mill, rows):
    """Copies the one job so often."""
    with mill.journal() as journal:
        columns = [row[1] for row in journal.execute("PRAGMA table_info(jobs)") if row[1] != "id"]
        names = ", ".join(columns)
        journal.execute(
            f"""
            WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)
            INSERT INTO jobs (id, {names})
            SELECT printf('00%024d', n), {names} FROM numbers, (SELECT * FROM jobs LIMIT 1)
            """,
            [rows],
        )
        journal.execute("UPDATE totals SET count = count + ?", [rows])
        journal.commit()
        journal.execute("PRAGMA wal_checkpoint(TRUNCATE)")
