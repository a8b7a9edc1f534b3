#!/usr/bin/env python3
"""Measures Dropmill beside plain tools that do the same with the same bytes; docs/benchmarks.md explains each figure.

    make bench [QUICK=1]
    Benchmarks/bench.py [--quick] [--only NAME,…] [--rounds N] [--folder DIR] [--binary FILE] [--json FILE]

NAME is a load (--list shows them) or one of: latency, slow, idle, waiting, start, counts. DIR should be on the file
system that is to be measured, best a fresh one: ext4 makes new files dearer for minutes after many were deleted. Makes
folders of its own there and removes no others. What fails is named, what comes after it is measured, and the exit
status is 1. Needs Python, bsdtar, openssl, zstd and strace.
"""
import argparse, os, sys, time
import counts, loads, process, report, starting, targets, throughput, watching
from plans import DURABILITIES, FULL, OTHERS, QUICK
from table import Table


class Bench:
    def __init__(self, plan, arguments):
        self.plan = plan
        self.folder = arguments.folder
        self.binary = os.path.abspath(arguments.binary)
        self.rounds = arguments.rounds or plan["rounds"]
        self.results = {}
        self.failures = {}

    def run(self, names):
        chosen = [load for load in self.plan["loads"] if load.name in names]
        if chosen:
            self.throughput(chosen)
        for name in OTHERS:
            if name in names:
                self.attempt(name, getattr(self, name))

    def attempt(self, name, measure):
        """One that fails is reported, and does not keep the others from being measured."""
        try:
            measure()
        except Exception as error:
            kind = "" if isinstance(error, process.Failed) else f"{type(error).__name__}: "
            self.failures[name] = f"{kind}{error}"
            print(f"{name} FAILED: {self.failures[name]}", flush=True)

    def throughput(self, chosen):
        figures = ("drops/s", "wall s", "CPU us/drop", "peak MiB")
        table = Table("load", "by", *(head for figure in figures for head in (figure, "of limit")), first=20)
        with loads.Store(self.folder) as store:
            for load in chosen:
                self.attempt(load.name, lambda: self.one_load(load, store, table))
                store.drop(load)

    def one_load(self, load, store, table):
        found = throughput.compared(self.folder, self.binary, DURABILITIES, load, store, self.rounds)
        self.results[load.name] = found
        for name, figures in found.items():
            cells = []
            for key, digits in (("rate", 1), ("wall_s", 2), ("cpu_us_per_drop", 0), ("peak_rss_mib", 0)):
                cells += [f"{figures[key]:.{digits}f}", f"{figures['ratios'][key]:.2f}"]
            table.row(load.name, name, *cells)

    def latency(self):
        table = Table("single drops, ms beyond quiet", "p50", "p95", "p99", "max")
        found = self.results["latency"] = {}
        for durability in DURABILITIES:
            found[durability] = watching.latency(self.folder, self.binary, durability, self.plan["latency"])
            table.row(durability, *(f"{found[durability][key]:.1f}" for key in ("p50", "p95", "p99", "max")))

    def slow(self):
        table = Table("slow writers, ms beyond quiet", "taken whole", "p50", "p95", "p99", "max")
        found = self.results["slow"] = watching.slow(self.folder, self.binary, self.plan["slow"])
        whole = f"{found['whole']} of {found['writers']}"
        table.row("held open, and opened anew", whole, *(f"{found[key]:.1f}" for key in ("p50", "p95", "p99", "max")))

    def idle(self):
        table = Table(
            "idle, over files that match nothing", "after drops", "CPU %", "resident MiB", "seconds", "rescans in them")
        self.results["idle"] = []
        for count, drops, seconds in self.plan["idle"]:
            found = watching.idle(self.folder, self.binary, count, drops, seconds)
            self.results["idle"].append(found)
            table.row(
                f"{count:,}", f"{drops:,}", f"{found['cpu_percent']:.3f}", f"{found['rss_mib']:.0f}", str(seconds),
                str(found["rescans"] or "none"))

    def waiting(self):
        table = Table("files that wait", "resident MiB", "at most")
        found = self.results["waiting"] = watching.waiting(self.folder, self.binary, self.plan["waiting"])
        table.row(f"{found['files']:,}", f"{found['rss_mib']:.0f}", f"{found['peak_rss_mib']:.0f}")

    def start(self):
        table = Table("start to first claim, rows of history", "median ms", "worst ms")
        self.results["start"] = []
        for rows in self.plan["start"]:
            found = starting.start(self.folder, self.binary, rows)
            self.results["start"].append(found)
            name = f"{rows:,}, not in the page cache" if rows else "0, no journal yet"
            table.row(name, f"{found['first_claim_ms']:.0f}", f"{found['worst_ms']:.0f}")

    def counts(self):
        table = Table("for each", "by", "system calls", "of limit", "syncs", "rows", "most of the calls")
        plan = self.plan["counts"]
        kinds = (("small file", loads.small), ("archive of 100", lambda count: loads.zips(count, 100)))
        self.results["counts"] = {}
        for (kind, load_of), calls, syncs in zip(kinds, plan["calls"], plan["syncs"]):
            found = self.results["counts"][kind] = {}
            for durability in (None, *DURABILITIES):
                contender = (self.folder, self.binary, durability)
                each = counts.calls(*contender, load_of, calls)
                figures = {"calls": sum(each.values()), "syncs": counts.syncs(*contender, load_of(syncs)), "each": each}
                if durability and kind == "small file":
                    figures["rows"] = counts.rows(*contender, load_of(plan["rows"]))
                found[durability or "limit"] = figures
                figures["ratio"] = figures["calls"] / found["limit"]["calls"]
                most = ", ".join(f"{call} {number:.1f}" for call, number in list(each.items())[:4])
                cells = f"{figures['calls']:.1f}", f"{figures['ratio']:.1f}", f"{figures['syncs']:.3f}"
                rows = f"{figures['rows']:.2f}" if "rows" in figures else ""
                table.row(kind, durability or "limit", *cells, rows, most)

    def judge(self):
        """The table of docs/benchmarks.md."""
        found = targets.judged(self.results)
        if found:
            table = Table("target", *targets.COLUMNS, "met", first=68)
            for each in found:
                values = (each[name] for name in targets.COLUMNS)
                cells = ("" if value is None else f"{value:.3g}" for value in values)
                table.row(each["target"], *cells, "yes" if each["met"] else "no")
        return found


def positive(text):
    if int(text) < 1:
        raise ValueError
    return int(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--rounds", type=positive)
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
    process.clean_up_when_told_to_end()
    bench = Bench(plan, arguments)
    begun = time.monotonic()
    found = {"machine": report.machine(arguments.folder), "quick": arguments.quick, "rounds": bench.rounds}
    try:
        bench.run(names)
    finally:
        # Also what was found until somebody had enough of it.
        found |= {"seconds": round(time.monotonic() - begun), "targets": bench.judge(), "failures": bench.failures}
        report.write(arguments.json, found | {"results": bench.results})
        print(f"\n{found['seconds']} s; written to {arguments.json}")
    for name, reason in bench.failures.items():
        print(f"FAILED: {name}: {reason}")
    sys.exit(1 if bench.failures else 0)


if __name__ == "__main__":
    main()
