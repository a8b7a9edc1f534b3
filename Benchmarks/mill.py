"""The daemon under test: one pipeline in a folder of its own."""
import atexit, os, re, shutil, signal, sqlite3, subprocess, tempfile, time

PIPELINE = """
inbox: ../inbox
processed: ../processed
failed: ../failed
match: {{ include: "{include}" }}
ready: {{ quiet: {quiet}, writers: wait }}
durability: {durability}
stages: {stages}
"""

CHECKSUM = "[checksum: { workers: 2 }]"
MOVE = '[move: { to: "../output" }]'
# Archives are unpacked and published with a manifest; all else is hashed where it is.
ARCHIVES = """
  - unpack: { workers: 2 }
  - checksum: { workers: 2, manifest: SHA256SUMS }
  - move: { to: "../output/{name}", when: "*.{zip,tar.gz,tar.zst}" }"""


class Mill:
    """Its folders are made new below `folder`, and removed by `close`."""

    def __init__(self, folder, binary, stages=CHECKSUM, include="*", quiet=0.2, durability="full"):
        self.root = tempfile.mkdtemp(prefix="dropmill-bench-", dir=folder)
        self.binary = binary
        self.quiet = quiet
        self.process = None
        for name in ("inbox", "outside", "output", "processed", "failed", "pipelines"):
            os.mkdir(self.path(name))
        with open(self.path("pipelines/bench.yaml"), "w") as file:
            quiet = f"{round(quiet * 1000)}ms"
            file.write(PIPELINE.format(stages=stages, include=include, quiet=quiet, durability=durability))

    def path(self, name):
        return os.path.join(self.root, name)

    def command(self, *words):
        state = ["--state", self.path("state"), "--log-level", "warning"]
        return [self.binary, "run", self.path("pipelines"), *state, *words]

    def start(self, *words, wrapper=()):
        with open(self.path("log"), "w") as log:
            self.process = subprocess.Popen([*wrapper, *self.command(*words)], stdout=log, stderr=log)
        # Does nothing to one that has ended.
        atexit.register(self.process.kill)

    def begun(self):
        """Waits until it watches its inbox: a probe that is settled says so."""
        self.drop("probe", b"probe")
        self.wait_for(1)
        for folder in ("processed", "output"):
            for name in os.listdir(self.path(folder)):
                os.unlink(self.path(f"{folder}/{name}"))

    def drop(self, name, contents):
        with open(self.path("outside/" + name), "wb") as file:
            file.write(contents)
        os.rename(self.path("outside/" + name), self.path("inbox/" + name))

    def settled(self):
        """How many drops are in processed or, where they were the payload, in the output."""
        with os.scandir(self.path("processed")) as entries:
            count = sum(not entry.name.endswith(".sha256") for entry in entries)
        if count:
            return count
        with os.scandir(self.path("output")) as entries:
            return sum(entry.is_file() for entry in entries)

    def wait_for(self, count, patience=1800):
        """Waits until so many are settled, and looks no more often than costs 5 % of a core."""
        end = time.monotonic() + patience
        while True:
            begun = time.monotonic()
            settled = self.settled()
            if settled >= count:
                return
            if time.monotonic() > end or self.process.poll() is not None:
                failed = len(os.listdir(self.path("failed")))
                raise SystemExit(f"{settled} of {count} drops settled, {failed} entries in failed; see {self.root}")
            time.sleep(max(0.01, 20 * (time.monotonic() - begun)))

    def last_arrival(self):
        """When the last drop was settled, in seconds since 1970: the rename sets the inode's ctime."""
        times = []
        for name in ("processed", "output"):
            with os.scandir(self.path(name)) as entries:
                times += [entry.stat(follow_symlinks=False).st_ctime_ns for entry in entries]
        return max(times) / 1e9

    def claims(self):
        """When the last ten jobs were claimed, in seconds since 1970."""
        journal = sqlite3.connect(self.path("state/journal.sqlite"))
        try:
            rows = journal.execute("SELECT claimed_at FROM jobs ORDER BY claimed_at DESC LIMIT 10")
            return [row[0] / 1e9 for row in rows]
        finally:
            journal.close()

    def cpu(self):
        """Seconds that it has computed so far: its CPU-time clock (clock_getcpuclockid(3))."""
        return time.clock_gettime((~self.process.pid << 3) | 2)

    def memory(self, key="VmRSS"):
        """MiB; `VmHWM` for the most that it has had."""
        with open(f"/proc/{self.process.pid}/status") as file:
            return int(re.search(rf"^{key}:\s+(\d+)", file.read(), re.M)[1]) / 1024

    def stop(self):
        """Ends it; returns what it and its helpers used: CPU seconds, and the most memory of one process in MiB."""
        self.process.send_signal(signal.SIGTERM)
        return self.ended()

    def ended(self):
        _, status, used = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        with open(self.path("log")) as file:
            said = file.read().strip()
        if self.process.returncode or "warning" in said or "error" in said:
            raise SystemExit(f"the daemon ended with {self.process.returncode} and said: {said}\nsee {self.root}")
        return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024

    def close(self):
        shutil.rmtree(self.root)
