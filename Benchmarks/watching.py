#!/usr/bin/env python3
"""Measures how Dropmill watches large folders and how soon it takes a single drop.

    make release
    Benchmarks/watching.py [idle] [flood] [latency] [--folder DIR] [--binary FILE]

Without a name all three are measured:
  idle     100,000 files that match nothing: CPU between scans, memory, how long a scan takes
  flood    200,000 files of 1 KiB that appear at once: how many are settled a second, after 10, 50 and 90 % of them; memory
  latency  500 single drops, each written in the inbox and closed: from there to settled, beyond `quiet`

DIR should be on the file system that is to be measured, best a fresh one: ext4 makes new files dearer for minutes after many
were deleted. Needs nothing but Python; leaves nothing behind.
"""
import argparse, os, shutil, signal, statistics, subprocess, tempfile, time

PIPELINE = """
inbox: ../inbox
processed: ../processed
failed: ../failed
match: {{ include: "{include}" }}
ready: {{ quiet: {quiet} }}
durability: {durability}
stages: [move: {{ to: "../output" }}]
"""


class Mill:
    """A pipeline in a folder of its own, and the daemon over it."""

    def __init__(self, folder, binary, **keys):
        self.root = tempfile.mkdtemp(prefix="dropmill-watching-", dir=folder)
        self.binary = binary
        for name in ("inbox", "outside", "pipelines"):
            os.mkdir(self.path(name))
        keys = {"include": "*", "quiet": "1s", "durability": "full"} | keys
        with open(self.path("pipelines/p.yaml"), "w") as file:
            file.write(PIPELINE.format(**keys))

    def path(self, name):
        return os.path.join(self.root, name)

    def start(self):
        log = open(self.path("log"), "w")
        words = ["run", self.path("pipelines"), "--state", self.path("state"), "--log-level", "warning"]
        self.process = subprocess.Popen([self.binary, *words], stderr=log)

    def cpu(self):
        """Seconds that it has computed so far: its CPU-time clock (clock_getcpuclockid(3))."""
        return time.clock_gettime((~self.process.pid << 3) | 2)

    def memory(self, key):
        with open(f"/proc/{self.process.pid}/status") as file:
            return next(int(line.split()[1]) / 1024 for line in file if line.startswith(key))

    def settled(self):
        try:
            return sum(1 for _ in os.scandir(self.path("output")))
        except FileNotFoundError:
            return 0

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait()
        with open(self.path("log")) as file:
            said = file.read()
        if status or said.strip():
            print(f"  the daemon ended with {status} and said: {said.strip()}")
        shutil.rmtree(self.root)


def idle(folder, binary, count=100_000):
    mill = Mill(folder, binary, include="*.pdf")
    for number in range(count):
        os.close(os.open(mill.path(f"inbox/file-{number:06}.txt"), os.O_CREAT | os.O_WRONLY))
    mill.start()
    time.sleep(3)
    # The scan at the start, as a part of all it does at the start.
    started = mill.cpu()
    time.sleep(30)
    between = mill.cpu() - started
    # A minute after the start comes the next scan; nothing else happens in that time but the pulse.
    time.sleep(40)
    scan = mill.cpu() - started - between - between * 40 / 30
    print(f"idle: {count} files that match nothing")
    print(f"  CPU between scans {between / 30 * 100:.3f} % of a core; one scan {scan:.3f} s of CPU")
    print(f"  memory {mill.memory('VmRSS'):.0f} MiB now, {mill.memory('VmHWM'):.0f} MiB at most")
    mill.stop()


def flood(folder, binary, count=200_000):
    for durability in ("full", "fast"):
        mill = Mill(folder, binary, durability=durability)
        for number in range(count):
            with open(mill.path(f"outside/file-{number:06}.bin"), "wb") as file:
                file.write(os.urandom(16) * 64)
        mill.start()
        time.sleep(1)
        begun = time.monotonic()
        for number in range(count):
            name = f"file-{number:06}.bin"
            os.rename(mill.path("outside/" + name), mill.path("inbox/" + name))
        dropped = time.monotonic()
        points = [(begun, 0, mill.cpu())]
        while points[-1][1] < count and time.monotonic() - begun < 900:
            time.sleep(0.5)
            points.append((time.monotonic(), mill.settled(), mill.cpu()))
        end, settled, _ = points[-1]
        print(f"flood: {count} files of 1 KiB, durability {durability}")
        print(f"  dropped in {dropped - begun:.1f} s, {settled} settled after {end - begun:.1f} s;", end=" ")
        print(f"memory at most {mill.memory('VmHWM'):.0f} MiB, CPU {mill.cpu():.1f} s")
        for part in (0.1, 0.5, 0.9):
            low, high = (part - 0.05) * count, (part + 0.05) * count
            first = next(p for p in points if p[1] >= low)
            last = next(p for p in points if p[1] >= high)
            rate = (last[1] - first[1]) / (last[0] - first[0]) if last[0] > first[0] else float("nan")
            # On a machine that is busy with other things the CPU time says more than the rate.
            each = (last[2] - first[2]) / max(1, last[1] - first[1]) * 1e6
            print(f"  around {part:.0%}: {rate:.0f} a second, {each:.0f} us of CPU each")
        mill.stop()


def latency(folder, binary, count=500, quiet=0.2):
    for durability in ("full", "fast"):
        mill = Mill(folder, binary, quiet=f"{int(quiet * 1000)}ms", durability=durability)
        os.mkdir(mill.path("output"))
        mill.start()
        time.sleep(2)
        beyond = []
        for number in range(count):
            name = f"file-{number:06}.bin"
            with open(mill.path("inbox/" + name), "wb") as file:
                file.write(b"x" * 1024)
            closed = time.monotonic()
            target = mill.path("output/" + name)
            time.sleep(quiet)
            while not os.path.exists(target):
                time.sleep(0.0002)
                if time.monotonic() - closed > 20:
                    raise SystemExit(f"{name} was not settled within 20 s")
            beyond.append((time.monotonic() - closed - quiet) * 1000)
        beyond.sort()
        print(f"latency: {count} single drops, beyond quiet ({quiet} s), durability {durability}")
        print(
            f"  p50 {statistics.median(beyond):.1f} ms, p90 {beyond[int(count * 0.9)]:.1f} ms,"
            f" p99 {beyond[int(count * 0.99)]:.1f} ms, longest {beyond[-1]:.1f} ms"
        )
        mill.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", help="idle, flood, latency")
    parser.add_argument("--folder", default="/var/tmp")
    parser.add_argument("--binary", default=".build-release/release/dropmill")
    arguments = parser.parse_args()
    all = {"idle": idle, "flood": flood, "latency": latency}
    for name in arguments.what or all:
        if name not in all:
            parser.error(f"there is no '{name}'; known are {', '.join(all)}")
        all[name](arguments.folder, os.path.abspath(arguments.binary))


if __name__ == "__main__":
    main()
