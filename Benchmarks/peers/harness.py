#!/usr/bin/env python3
"""Runs hot-folder systems on the same workloads and reports speed, cost and correctness.

  harness.py --peers limit,watchdog --loads S:2000,A:200 --rounds 3 --out results.jsonl
  harness.py --report results.jsonl

The system under test is a command that stays in the foreground. It is told by environment:
  HOT_ROOT     a folder with inbox/ processed/ failed/ output/ (all empty, one file system)
  HOT_QUIET    seconds a file's size must have stood still before it may be taken
  HOT_WORKERS  how many files may be worked on at once
  HOT_CACHE    a folder for its own build results, kept between runs
It takes every file in inbox/ whose name neither starts with "." nor ends with ".skip", unpacks
zip, tar, tar.gz and tar.zst into output/NAME/, records the SHA-256 of each resulting file in
sha256sum's format in output/NAME.sha256 (paths relative to output/ or to output/NAME/) and
moves NAME to processed/ or failed/. SIGTERM ends it.

A peer is a file in systems/ (PEER.py, PEER.sh, ...; PEER.batch.sh is run once on a full inbox)
or NAME=COMMAND. Times are the kernel's: a file has arrived when its inode's ctime says it was
renamed. CPU and memory are those of all processes in the peer's own control group.
"""
import argparse, hashlib, json, os, shlex, shutil, signal, statistics, subprocess, sys, time
from collections import Counter
from pathlib import Path
import load

HERE = Path(__file__).resolve().parent
PROBE = ".probe"        # ends the name of the files that find out when a peer is ready
MANIFESTS = "*.sha256", "*/SHA256SUMS", "SHA256SUMS"


class Group:
    """The processes of one peer: a control group (v2), or else its descendants in /proc."""
    def __init__(self):
        self.path, self.root, self.peak, self.base = None, None, 0, 0.0
        for line in Path("/proc/self/mounts").read_text().splitlines():
            if line.split()[2] == "cgroup2" and os.access(line.split()[1], os.W_OK):
                self.path = Path(line.split()[1]) / f"hotbench-{os.getpid()}-{time.monotonic_ns()}"
                self.path.mkdir()

    def enter(self):
        if self.path:
            (self.path / "cgroup.procs").write_text("0")

    def pids(self):
        if self.path:
            return [int(p) for p in (self.path / "cgroup.procs").read_text().split()]
        parent = {int(p): int(stat_fields(p)[1]) for p in os.listdir("/proc") if p.isdigit() and stat_fields(p)}
        found = {self.root}
        while more := {p for p, up in parent.items() if up in found} - found:
            found |= more
        return [p for p in found if p in parent]

    def cpu(self):
        """CPU seconds so far, of the living and the dead."""
        if self.path:
            return int((self.path / "cpu.stat").read_text().split()[1]) / 1e6
        ticks = sum(sum(map(int, f[11:15])) for p in self.pids() if (f := stat_fields(p)))
        return ticks / os.sysconf("SC_CLK_TCK")

    def sample(self):
        """Keeps the highest sum of resident memory seen, in bytes (shared pages count in each)."""
        total = 0
        for pid in self.pids():
            try:
                total += int(Path(f"/proc/{pid}/statm").read_text().split()[1])
            except (OSError, IndexError):
                pass
        self.peak = max(self.peak, total * os.sysconf("SC_PAGE_SIZE"))

    def end(self, child):
        """Ends what is left in the group, and the group."""
        for sig in (signal.SIGTERM, signal.SIGKILL, signal.SIGKILL):
            for pid in self.pids():
                try:
                    os.kill(pid, sig)
                except ProcessLookupError:
                    pass
            until = time.monotonic() + 5
            while (child.poll() is None or self.pids()) and time.monotonic() < until:
                time.sleep(0.05)
        for _ in range(200 if self.path else 0):
            try:
                return self.path.rmdir()
            except OSError:                             # the last process is still on its way out
                time.sleep(0.05)


def stat_fields(pid):
    """/proc/PID/stat from the state on: [1] parent, [11:15] own and waited-for CPU ticks."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None


def busy():
    """CPU seconds the whole machine was busy (and stolen) since boot."""
    f = [int(x) for x in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]
    return (sum(f[:3]) + sum(f[5:8])) / os.sysconf("SC_CLK_TCK")


def calm(cores, patience):
    """Waits until the rest of the machine uses less than so many cores, or patience ends."""
    until, quiet_since = time.monotonic() + patience, 0
    while True:
        b, t = busy(), time.monotonic()
        time.sleep(1)
        used = (busy() - b) / (time.monotonic() - t)
        quiet_since = quiet_since + 1 if used < cores else 0
        if quiet_since == 2 or time.monotonic() > until:
            return


def settled(root):
    """Where every settled file lies: name -> its paths under processed/ and failed/."""
    found = {}
    for place in ("processed", "failed"):
        for folder, _, names in os.walk(root / place):
            for n in names:
                if not n.endswith((".sha256", PROBE, "SHA256SUMS")):
                    found.setdefault(n, []).append(os.path.join(folder, n))
    return found


def recorded(root, names):
    """Every sum the peer wrote down: NAME or NAME/ENTRY -> set of sums."""
    sums = {}
    for place in ("output", "processed"):
        for m in [p for pattern in MANIFESTS for p in (root / place).glob(pattern)]:
            owner = m.parent.name if m.name == "SHA256SUMS" else m.name[:-7]
            for line in m.read_text(errors="surrogateescape").splitlines():
                hexa, _, path = line.partition(" ")
                if hexa.startswith("\\"):                       # sha256sum's own escape
                    hexa, path = hexa[1:], path.replace("\\\\", "\\")
                path = path.lstrip(" *").removeprefix("./")
                if owner in names and path != owner and not path.startswith(owner + "/"):
                    path = f"{owner}/{path}"
                sums.setdefault(path, set()).add(hexa)
    return sums


def file_sha(path):
    with open(path, "rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest()


def verify(root, items, stamps, quiet):
    """Counts what went wrong, by kind, with an example of each; and the arrivals of good files."""
    faults, example, arrivals = Counter(), {}, []
    where, names = settled(root), {i.name for i in items}
    sums, drops = recorded(root, names), Counter(i.name for i in items)
    twice = tuple(n for n, c in drops.items() if c > 1)

    def wrong(item, stamp):
        paths, out = where.get(item.name, []), root / "output" / item.name
        if item.pauses and max(item.pauses) < quiet <= stamp[2]:
            return "void: the loader was late"                  # not the peer's fault
        if item.name in twice:                                  # both contents must survive somewhere
            kept = [p for n, ps in where.items() if n.startswith(item.name.split(".")[0]) for p in ps]
            return None if item.sha in map(file_sha, kept) else "overwritten by a later file of that name"
        if not paths:
            return "left in inbox" if (root / "inbox" / item.name).exists() else "gone"
        if len(paths) > 1 or (root / "inbox" / item.name).exists():
            return "settled twice"
        place = Path(paths[0]).relative_to(root).parts[0]
        if item.expect not in (place, "either"):
            return f"in {place} by mistake"
        if file_sha(paths[0]) != item.sha:
            return "taken before complete"
        if item.expect == "processed":
            got = {k: sums.get(k, set()) for k in item.files}
            if not all(got.values()):
                return "sum missing"
            if any({item.files[k]} != s for k, s in got.items()):
                return "hashed before complete"
            if item.name not in item.files:
                there = {f"{item.name}/{p.relative_to(out)}": file_sha(p) for p in out.rglob("*")
                         if p.is_file() and p.name != "SHA256SUMS"}
                if there != item.files:
                    return "wrong archive contents"
            arrivals.append((os.stat(paths[0]).st_ctime, stamp[1]))

    def fault(kind, name):
        faults[kind] += 1
        example.setdefault(kind, name)

    for item, stamp in zip(items, stamps):
        if kind := wrong(item, stamp):
            fault(kind, item.name)
    good = len(items) - faults.total()
    for n in where.keys() - names:
        if not n.startswith(tuple(t.split(".")[0] for t in twice) or "/"):
            fault("extra file", n)
    for p in [*root.rglob("escaped*"), *root.rglob("PWNED")]:
        if "output" not in p.parts:
            fault("wrote outside its folder", p.name)
    return good, faults, example, arrivals


def percentiles(values):
    v = sorted(values)
    return {k: round(v[min(len(v) - 1, int(len(v) * p))], 4) for k, p in
            (("p50", .5), ("p95", .95), ("p99", .99), ("max", 1))} if v else {}


def command_of(peer):
    """(name, command, whether it is a batch)"""
    name, eq, command = peer.partition("=")
    if eq:
        return name, shlex.split(command), False
    found = sorted(p for p in (HERE / "systems").iterdir() if p.name.split(".")[0] == name)
    if not found:
        raise SystemExit(f"no peer {name}")
    script = found[0]
    return name, ([sys.executable] if script.suffix == ".py" else []) + [str(script)], ".batch." in script.name


def run(peer, spec, args):
    """One run; returns its record."""
    name, command, batch = command_of(peer)
    work = Path(args.work).resolve()
    root, stage, log = work / "root", work / "stage", work / f"log-{name}-{spec.split(',')[0].replace(':', '')}"
    shutil.rmtree(root, ignore_errors=True)
    for d in ("inbox", "processed", "failed", "output"):
        (root / d).mkdir(parents=True)
    (work / "cache").mkdir(exist_ok=True)
    items = load.staged(spec, args.quiet, stage)
    kind = spec[0]
    if kind == "I":
        for i in range(int(spec[2:])):
            (root / "inbox" / f"parked{i:07}.skip").write_bytes(b"x")
    stamps_file = work / "stamps.json"
    stamps_file.unlink(missing_ok=True)
    loader = [sys.executable, str(HERE / "load.py"), spec, str(root / "inbox"), "--quiet", str(args.quiet),
              "--stage", str(stage), "--stamps", str(stamps_file)]
    before = batch or kind == "P"                       # the inbox is full before the peer starts
    if before:
        subprocess.run(loader, check=True)
    os.sync()
    calm(args.calm, args.calm_wait)

    group, idle = Group(), None
    env = dict(os.environ, HOT_ROOT=str(root), HOT_QUIET=f"{args.quiet:g}", HOT_WORKERS=str(args.workers),
               HOT_CACHE=str(work / "cache"))
    busy0, own0, t_start = busy(), sum(os.times()[:2 if batch else 4]), time.time()
    child = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=log.open("wb"),
                             stderr=subprocess.STDOUT, preexec_fn=group.enter, start_new_session=True)
    group.root, dropper = child.pid, None
    try:
        ready = None if before else make_ready(root, group, child, args.start_timeout)
        if kind == "I":
            time.sleep(3)
            cpu, t = group.cpu(), time.monotonic()
            time.sleep(args.idle)
            idle = 100 * (group.cpu() - cpu) / (time.monotonic() - t)
        cpu0, t0 = (0.0, t_start) if before else (group.cpu(), time.time())
        if not before:
            busy0, own0 = busy(), sum(os.times()[:4])
            dropper = subprocess.Popen(loader)
        count, changed, deadline = -1, time.time(), time.time() + args.timeout
        names = {i.name for i in items}
        while time.time() < deadline and time.time() - changed < args.stall:
            time.sleep(0.2)
            group.sample()
            now = len(names & settled(root).keys())
            dropping = dropper and dropper.poll() is None
            if now != count or dropping:
                count, changed = now, time.time()
            if batch and child.poll() is not None or not batch and not dropping and now == len(names):
                break
        cpu, load_1m = group.cpu() - cpu0, os.getloadavg()[0]
        own = sum(os.times()[:2 if batch else 4]) - own0    # harness and loader
        others = (busy() - busy0 - cpu - own) / (time.time() - t0)
        if not batch:
            time.sleep(args.linger)                     # what is settled twice shows now
        if dropper:
            dropper.wait()
    finally:
        group.end(child)
        if dropper and dropper.poll() is None:
            dropper.kill()
    stamps = json.loads(stamps_file.read_text())
    good, faults, example, arrivals = verify(root, items, stamps, args.quiet)
    first = t_start if before else min(s[0] for s in stamps)
    every = [os.stat(p).st_ctime for ps in settled(root).values() for p in ps]
    wall = max(every, default=t_start) - first
    payload = sum(i.payload for i in items)
    waits = [a - (t_start if before else last) for a, last in arrivals]
    record = dict(
        peer=name, load=spec, quiet=args.quiet, when=time.strftime("%F %T"), files=len(items), settled=len(every),
        good=good, wall_s=round(wall, 3), files_s=round(len(every) / wall, 1) if wall > 0 else 0,
        mb_s=round(payload / wall / 1e6, 1) if wall > 0 and names <= settled(root).keys() else None, cpu_s=round(cpu, 3),
        rss_mb=round(group.peak / 1e6, 1), ready_s=ready and round(ready, 2), latency=percentiles(waits),
        beyond_quiet=percentiles([w - args.quiet for w in waits]), idle_pct=idle and round(idle, 3),
        others=round(others, 2), loadavg=load_1m, faults=dict(faults), example=example)
    if not args.keep:
        shutil.rmtree(root)
    return record


def make_ready(root, group, child, timeout):
    """Drops a probe file every 3 s until one has been processed; returns the seconds that took."""
    start, n = time.time(), 0

    def probes(place):
        return [p for p in (root / place).rglob("*" + PROBE) if p.is_file()]

    while not probes("processed"):
        if time.time() - start > timeout or child.poll() is not None:
            raise RuntimeError("the peer did not get ready")
        if n <= (time.time() - start) / 3:
            temp = root / "inbox" / f".p{n}"
            temp.write_bytes(b"probe %d" % n)
            temp.rename(root / "inbox" / f"p{n}{PROBE}")
            n += 1
        time.sleep(0.05)
    took = time.time() - start
    while probes("inbox") and time.time() - start < took + 5:
        time.sleep(0.05)
    time.sleep(0.5)
    for place in ("inbox", "processed", "failed", "output"):
        for p in (root / place).rglob("p*" + PROBE + "*"):
            p.unlink(missing_ok=True)
    group.sample()
    return took


def table(records):
    """Medians per workload and peer, with the ratio of wall time to the first peer's."""
    cells = {}
    for r in records:
        cells.setdefault(r["load"], {}).setdefault(r["peer"], []).append(r)
    lines = []
    for spec, peers in cells.items():
        base = None
        lines += [f"\n{spec}", f"{'peer':<14}{'n':>2}{'wall s':>9}{'spread':>7}{'ratio':>7}{'files/s':>9}{'MB/s':>8}"
                  f"{'CPU s':>8}{'RSS MB':>8}{'p50':>8}{'p95':>8}{'p99':>8}{'max':>8}{'idle%':>7}{'other':>7}  good, faults"]
        for peer, rs in peers.items():
            def mid(key, sub=None):
                v = [x for r in rs if (x := (r.get(key) or {}).get(sub) if sub else r.get(key)) is not None]
                return statistics.median(v) if v else None

            def show(v, width, digits):
                return f"{'-' if v is None else format(v, f'.{digits}f'):>{width}}"

            walls = [r["wall_s"] for r in rs]
            base = base or mid("wall_s")
            bad = Counter()
            for r in rs:
                bad.update({k: v / len(rs) for k, v in r["faults"].items()})
            lines.append(
                f"{peer:<14}{len(rs):>2}" + show(mid("wall_s"), 9, 2)
                + show(100 * (max(walls) - min(walls)) / max(mid("wall_s"), 1e-9), 6, 0) + "%"
                + show(mid("wall_s") / base if base else None, 7, 2) + show(mid("files_s"), 9, 1) + show(mid("mb_s"), 8, 1)
                + show(mid("cpu_s"), 8, 2) + show(mid("rss_mb"), 8, 1)
                + "".join(show(mid("latency", k), 8, 3) for k in ("p50", "p95", "p99", "max"))
                + show(mid("idle_pct"), 7, 2) + show(mid("others"), 7, 2)
                + f"  {mid('good'):g}/{rs[0]['files']}" + "".join(f"; {k} {v:g}" for k, v in bad.items()))
    return "\n".join(lines)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--peers", default="limit", help="comma-separated names of systems/, or NAME=COMMAND")
    p.add_argument("--loads", default="S:2000", help="workloads (see load.py), separated by spaces or ;")
    p.add_argument("--rounds", type=int, default=1, help="every peer once per round: A B A B")
    p.add_argument("--out", default="results.jsonl", help="one JSON record per run is appended here")
    p.add_argument("--work", default="work", help="scratch folder, on the file system to be measured")
    p.add_argument("--quiet", type=float, default=1.0)
    p.add_argument("--workers", type=int, default=os.cpu_count())
    p.add_argument("--timeout", type=float, default=600, help="seconds a run may take")
    p.add_argument("--stall", type=float, default=20, help="seconds without a settled file that end a run")
    p.add_argument("--start-timeout", type=float, default=120)
    p.add_argument("--linger", type=float, default=2)
    p.add_argument("--idle", type=float, default=20)
    p.add_argument("--calm", type=float, default=0.3, help="start a run when all else uses fewer cores than this")
    p.add_argument("--calm-wait", type=float, default=0, help="or after waiting this many seconds")
    p.add_argument("--keep", action="store_true", help="leave the last run's folders")
    p.add_argument("--report", metavar="FILE", help="print the table of earlier runs")
    args = p.parse_args()
    if args.report:
        return print(table([json.loads(line) for line in open(args.report)]))
    Path(args.work).mkdir(parents=True, exist_ok=True)
    records = []
    for spec in args.loads.replace(";", " ").split():
        for peer in args.rounds * args.peers.split(","):
            try:
                r = run(peer, spec, args)
            except RuntimeError as e:
                print(f"{peer} {spec}: {e}", file=sys.stderr)
                continue
            records.append(r)
            with open(args.out, "a") as f:
                f.write(json.dumps(r) + "\n")
            print(f"{r['peer']} {r['load']}: {r['wall_s']} s, cpu {r['cpu_s']} s, good {r['good']}/{r['files']} "
                  f"{r['faults'] or ''}", file=sys.stderr)
    print(table(records))


if __name__ == "__main__":
    main()
