"""What is measured, and how much of it."""
import loads

DURABILITIES = ("full", "fast")

FULL = {
    "loads": [
        loads.small(2_000),
        loads.small(20_000),
        loads.small(200_000),
        loads.zips(1_000, 100),
        loads.big("zip", 1024),
        loads.big("tar.gz", 1024),
        loads.big("tar.zst", 1024),
        loads.mixed(),
    ],
    "rounds": 3,
    "latency": 500,
    "slow": 40,
    # Files, drops that were settled before, and seconds; two rescans each.
    "idle": [(0, 0, 120), (100_000, 0, 120), (0, 20_000, 120)],
    "waiting": 200_000,
    "start": [0, 1_000_000],
    # Files and archives, for all calls and for syncs alone; files for rows.
    "counts": {"calls": (200, 10), "syncs": (20_000, 200), "rows": 20_000},
}

# Under three minutes on two quiet cores.
QUICK = {
    "loads": [
        loads.small(2_000),
        loads.small(20_000),
        loads.zips(100, 100),
        loads.big("zip", 128),
        loads.big("tar.zst", 128),
        loads.mixed(500, 20, 2),
    ],
    "rounds": 1,
    "latency": 60,
    "slow": 20,
    "idle": [(10_000, 0, 10), (0, 2_000, 10)],
    "waiting": 20_000,
    "start": [0, 10_000],
    "counts": {"calls": (50, 4), "syncs": (2_000, 40), "rows": 2_000},
}

# Each is a method of the bench.
OTHERS = ("latency", "slow", "idle", "waiting", "start", "counts")
