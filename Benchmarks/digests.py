#!/usr/bin/env python3
"""Measures what checksums cost, as ratios of runs that take turns, so that whatever else the machine does hits both alike.

    make release
    Benchmarks/digests.py [one] [workers] [both] [--size MIB] [--rounds N] [--folder DIR] [--binary FILE]

Without a name all three are measured:
  one      sha256 of one cached file on one worker, against `openssl dgst -sha256` (promised: at least 0.9 times its rate)
  workers  sha256 of 16 files on two workers, against one worker (promised: at least 1.8 times its rate)
  both     sha256 and md5 in one pass, against the two one by one (promised: at most 1.1 times their CPU time)

A rate is told by the clock and by CPU time; on a machine that others use only the second says much of `one`, and nothing does of
`workers`. Of the rounds the fastest counts. Needs Python and openssl; leaves nothing behind.
"""
import argparse, datetime, json, os, shutil, subprocess, tempfile, time

PIPELINE = """
inbox: ../inbox
processed: ../processed
failed: ../failed
ready: {{ quiet: 1ms }}
min_free: 0
stages: [checksum: {{ algorithm: {algorithm}, workers: {workers} }}]
"""


def run(*command):
    """Runs a program; returns its seconds by the clock and in user mode."""
    begun = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{command[0]} ended with {os.waitstatus_to_exitcode(status)}: {said}")
    return time.monotonic() - begun, usage.ru_utime


class Mill:
    """A pipeline in a folder of its own, whose only stage is `checksum`, and files to drop."""

    def __init__(self, folder, binary):
        self.root = tempfile.mkdtemp(prefix="dropmill-digests-", dir=folder)
        self.binary = binary
        for name in ("inbox", "pipelines", "files"):
            os.mkdir(self.path(name))

    def path(self, *names):
        return os.path.join(self.root, *names)

    def make(self, name, size):
        """A file in `files`, which the cache holds then."""
        block = os.urandom(1 << 20)
        with open(self.path("files", name), "wb") as file:
            for _ in range(size):
                file.write(block)

    def checksum(self, algorithm, workers=1):
        """Drops all files; returns the seconds from the first one's begin to the last one's end, and the CPU's."""
        with open(self.path("pipelines/p.yaml"), "w") as file:
            file.write(PIPELINE.format(algorithm=algorithm, workers=workers))
        for name in os.listdir(self.path("files")):
            os.rename(self.path("files", name), self.path("inbox", name))
        state = self.path("state")
        _, cpu = run(self.binary, "run", "--once", self.path("pipelines"), "--state-dir", state, "--log-level", "warning")
        begins, ends = [], []
        jobs = json.loads(subprocess.check_output([self.binary, "jobs", "--json", "--state-dir", state]))
        for job in jobs:
            story = json.loads(subprocess.check_output([self.binary, "show", job["id"], "--json", "--state-dir", state]))
            done = next(event for event in story["history"] if event.get("stage") == "checksum")
            end = datetime.datetime.fromisoformat(done["at"].replace("Z", "+00:00")).timestamp()
            ends.append(end)
            begins.append(end - done["duration_s"])
            os.rename(self.path("processed", job["name"]), self.path("files", job["name"]))
        for name in ("processed", "state"):
            shutil.rmtree(self.path(name))
        return max(ends) - min(begins), cpu

    def remove(self):
        shutil.rmtree(self.root)


def best(rounds, *measures):
    """The fastest of the rounds of each, taken in turns: by the clock, and by CPU time."""
    results = [[measure() for measure in measures] for _ in range(rounds)]
    return [tuple(min(row[index][kind] for row in results) for kind in (0, 1)) for index in range(len(measures))]


def idle(mill):
    """What the daemon computes for a drop that holds nothing."""
    mill.make("nothing", 0)
    (_, cpu), = best(3, lambda: mill.checksum("sha256"))
    os.remove(mill.path("files/nothing"))
    return cpu


def one(mill, size, rounds):
    mill.make("file", size)
    openssl = lambda: run("openssl", "dgst", "-sha256", mill.path("files/file"))
    (wall, cpu), (ours, our_cpu) = best(rounds, openssl, lambda: mill.checksum("sha256"))
    print(f"one: {size} MiB; openssl {size / wall:.0f} MiB/s, checksum {size / ours:.0f} MiB/s")
    print(f"  {wall / ours:.2f} times openssl's rate by the clock, {cpu / our_cpu:.2f} by CPU time (at least 0.9)")


def workers(mill, size, rounds):
    for number in range(16):
        mill.make(f"file-{number}", size // 16)
    (single, _), (double, _) = best(rounds, lambda: mill.checksum("sha256"), lambda: mill.checksum("sha256", 2))
    print(f"workers: 16 files of {size // 16} MiB; one {size / single:.0f} MiB/s, two {size / double:.0f} MiB/s")
    print(f"  {single / double:.2f} times the rate of one worker (at least 1.8); load now {os.getloadavg()[0]:.1f}")


def both(mill, size, rounds):
    base = idle(mill)
    mill.make("file", size)
    algorithms = ("sha256", "md5", "[sha256, md5]")
    sha, md5, pair = best(rounds, *((lambda algorithm=algorithm: mill.checksum(algorithm)) for algorithm in algorithms))
    apart = sha[1] + md5[1] - 2 * base
    print(f"both: {size} MiB; CPU sha256 {sha[1]:.2f} s, md5 {md5[1]:.2f} s, both {pair[1]:.2f} s, of each {base:.2f} s idle")
    print(f"  {(pair[1] - base) / apart:.2f} times the CPU of the two one by one (at most 1.1)")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", help="one, workers, both")
    parser.add_argument("--size", type=int, default=2048, help="MiB in all")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", default="/var/tmp")
    parser.add_argument("--binary", default=".build-release/release/dropmill")
    arguments = parser.parse_args()
    all = {"one": one, "workers": workers, "both": both}
    for name in arguments.what or all:
        if name not in all:
            parser.error(f"there is no '{name}'; known are {', '.join(all)}")
        mill = Mill(arguments.folder, os.path.abspath(arguments.binary))
        try:
            all[name](mill, arguments.size, arguments.rounds)
        finally:
            mill.remove()


if __name__ == "__main__":
    main()
