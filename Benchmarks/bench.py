#!/usr/bin/env python3
"""Measures Dropmill beside plain tools that do the same with the same bytes; docs/benchmarks.md explains each figure.

    make bench [QUICK=1]
    Benchmarks/bench.py [--quick] [--only NAME,…] [--rounds N] [--folder DIR] [--binary FILE] [--json FILE]

NAME is a load (--list shows them) or one of: latency, slow, idle, waiting, start, counts. DIR should be on the file
system that is to be measured, best a fresh one: ext4 makes new files dearer for minutes after many were deleted. Makes
folders of its own there and removes no others. Needs Python, bsdtar, openssl, zstd and strace.
"""
import argparse, json, os, platform, statistics, time
import counts, loads, throughput, watching
from table import Table

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
    "idle": [(0, 60), (100_000, 50)],
    "waiting": 200_000,
    "start": [0, 1_000_000],
    "counts": (200, 10),
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
    "idle": [(10_000, 10)],
    "waiting": 20_000,
    "start": [0, 10_000],
    "counts": (50, 4),
}

OTHERS = ("latency", "slow", "idle", "waiting", "start", "counts")


class Bench:
    def __init__(self, plan, arguments):
        self.plan = plan
        self.folder = arguments.folder
        self.binary = os.path.abspath(arguments.binary)
        self.rounds = arguments.rounds or plan["rounds"]
        self.results = {}

    def run(self, names):
        chosen = [load for load in self.plan["loads"] if load.name in names]
        if chosen:
            self.throughput(chosen)
        for name in OTHERS:
            if name in names:
                getattr(self, name)()

    def throughput(self, chosen):
        table = Table("load", "by", "drops/s", "of limit", "wall s", "of limit", "CPU us/drop", "of limit", "peak MiB")
        store = loads.Store(self.folder)
        try:
            for load in chosen:
                found = self.results[load.name] = self.medians(load, store)
                limit = found["limit"]
                for name, figures in found.items():
                    figures["ratios"] = {key: figures[key] / limit[key] for key in ("rate", "wall_s", "cpu_s")}
                    ratios = figures["ratios"]
                    table.row(
                        load.name, name, f"{figures['rate']:.1f}", f"{ratios['rate']:.2f}", f"{figures['wall_s']:.2f}",
                        f"{ratios['wall_s']:.2f}", f"{figures['cpu_us_per_drop']:.0f}", f"{ratios['cpu_s']:.2f}",
                        f"{figures['peak_rss_mib']:.0f}")
                store.drop(load)
        finally:
            store.close()

    def medians(self, load, store):
        """Rounds of one after another (A B C A B C), so that what changes on the machine meets all."""
        contenders = {"limit": lambda: throughput.of_limit(self.folder, load, store)}
        for durability in DURABILITIES:
            contenders[durability] = lambda durability=durability: throughput.of_mill(
                self.folder, self.binary, durability, load, store)
        rounds = {name: [] for name in contenders}
        for _ in range(self.rounds):
            for name, run in contenders.items():
                rounds[name].append(run())
        return {
            name: {key: statistics.median(each[key] for each in found) for key in found[0]}
            | {"rounds": [each["wall_s"] for each in found]}
            for name, found in rounds.items()
        }

    def latency(self):
        table = Table("single drops, ms beyond quiet", "p50", "p95", "p99", "max")
        for durability in DURABILITIES:
            found = watching.latency(self.folder, self.binary, durability, self.plan["latency"])
            self.results[f"latency-{durability}"] = found
            table.row(durability, *(f"{found[key]:.1f}" for key in ("p50", "p95", "p99", "max")))

    def slow(self):
        table = Table("slow writers, ms beyond quiet", "taken whole", "p50", "p99", "max")
        found = self.results["slow"] = watching.slow(self.folder, self.binary, self.plan["slow"])
        whole = f"{found['whole']} of {found['writers']}"
        table.row("held open, and opened anew", whole, *(f"{found[key]:.1f}" for key in ("p50", "p99", "max")))

    def idle(self):
        table = Table("idle, over files that match nothing", "CPU %", "resident MiB")
        for count, seconds in self.plan["idle"]:
            found = self.results[f"idle-{count}"] = watching.idle(self.folder, self.binary, count, seconds)
            table.row(f"{count:,}", f"{found['cpu_percent']:.3f}", f"{found['rss_mib']:.0f}")

    def waiting(self):
        table = Table("files that wait", "resident MiB", "at most")
        found = self.results["waiting"] = watching.waiting(self.folder, self.binary, self.plan["waiting"])
        table.row(f"{found['files']:,}", f"{found['rss_mib']:.0f}", f"{found['peak_rss_mib']:.0f}")

    def start(self):
        table = Table("start to first claim, rows of history", "ms")
        for rows in self.plan["start"]:
            found = self.results[f"start-{rows}"] = watching.start(self.folder, self.binary, rows)
            table.row(f"{rows:,}", f"{found['first_claim_ms']:.0f}")

    def counts(self):
        table = Table("for each", "by", "system calls", "of limit", "syncs", "most of them")
        files, archives = self.plan["counts"]
        for kind, count in (("small file", files), ("archive of 100", archives)):
            limit = None
            for durability in (None, *DURABILITIES):
                measure = counts.small if kind == "small file" else counts.archives
                calls, syncs, each = measure(self.folder, self.binary, durability, count)
                limit = limit or calls
                name = durability or "limit"
                self.results[f"counts-{kind.replace(' ', '-')}-{name}"] = {"calls": calls, "syncs": syncs, "each": each}
                most = ", ".join(f"{call} {number:.1f}" for call, number in list(each.items())[:4])
                table.row(kind, name, f"{calls:.1f}", f"{calls / limit:.1f}", f"{syncs:.2f}", most)


def machine():
    with open("/proc/cpuinfo") as lines:
        model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "")
    load = os.getloadavg()[0]
    return {"kernel": platform.release(), "processor": model, "cores": os.cpu_count(), "load_before": load}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--folder", default="/var/tmp")
    parser.add_argument("--binary", default=".build-release/release/dropmill")
    parser.add_argument("--json", default="Benchmarks/results/bench.json")
    arguments = parser.parse_args()
    plan = QUICK if arguments.quick else FULL
    known = [load.name for load in plan["loads"]] + list(OTHERS)
    if arguments.list:
        for load in plan["loads"]:
            print(f"{load.name:20} {load.summary}")
        return
    names = arguments.only.split(",") if arguments.only else known
    for name in names:
        if name not in known:
            parser.error(f"there is no '{name}'; known are {', '.join(known)}")
    bench = Bench(plan, arguments)
    begun = time.monotonic()
    found = {"machine": machine(), "rounds": bench.rounds, "results": bench.results}
    bench.run(names)
    found["seconds"] = round(time.monotonic() - begun)
    os.makedirs(os.path.dirname(os.path.abspath(arguments.json)), exist_ok=True)
    with open(arguments.json, "w") as file:
        json.dump(found, file, indent=1)
    print(f"\n{found['seconds']} s; written to {arguments.json}")


if __name__ == "__main__":
    main()
