"""The daemon under test: one pipeline in a folder of its own."""
import contextlib, json, os, re, signal, sqlite3, subprocess, time
from process import Failed, Process
from scratch import Scratch

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
CHECKSUM_LIST = "[checksum: { workers: 2, into: list }]"
MOVE = '[move: { to: "../output" }]'


def archives(limits=""):
    """Archives are unpacked and published with a manifest; all else is hashed where it is."""
    return f"""
  - unpack: {{ workers: 2{limits} }}
  - checksum: {{ workers: 2, manifest: SHA256SUMS }}
  - move: {{ to: "../output/{{name}}", when: "*.{{zip,tar.gz,tar.zst}}" }}"""


def stages_for(load, into_list=False):
    if load.archives:
        return archives()
    return CHECKSUM_LIST if into_list else CHECKSUM


class Mill(Scratch):
    def __init__(self, folder, binary, stages=CHECKSUM, include="*", quiet=0.2, durability="full"):
        super().__init__("bench", folder, ("inbox", "outside", "output", "processed", "failed", "pipelines"))
        self.binary = binary
        self.quiet = quiet
        self.list = self.path("processed/SHA256SUMS") if stages == CHECKSUM_LIST else None
        with open(self.path("pipelines/bench.yaml"), "w") as file:
            quiet = f"{round(quiet * 1000)}ms"
            file.write(PIPELINE.format(stages=stages, include=include, quiet=quiet, durability=durability))

    def start(self, *words, wrapper=()):
        """Logs what it does by default, to a file, as services do."""
        command = [self.binary, "run", self.path("pipelines"), "--state-dir", self.path("state"), *words]
        with open(self.path("log"), "w") as log:
            self.process = Process([*wrapper, *command], stdout=log, stderr=log)

    def run_once(self, wrapper=()):
        """Settles what lies in the inbox: seconds of CPU and the peak memory in MiB, with its helpers'."""
        self.start("--once", wrapper=wrapper)
        return self.ended()

    def begun(self):
        """Waits until it watches its inbox: a probe that is settled says so."""
        self.drop("probe", b"probe")
        self.wait_for(1)
        while self.list and not (os.path.exists(self.list) and os.path.getsize(self.list)):
            time.sleep(0.01)
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
            count = sum(not entry.name.endswith((".sha256", "SHA256SUMS")) for entry in entries)
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
            so_far = f"{settled} of {count} drops settled"
            self.check_failed(so_far)
            if not self.process.runs():
                raise Failed(f"{so_far}, and the daemon has ended{self.last_words()}")
            if begun > end:
                raise Failed(f"{so_far} within {patience} s{self.last_words()}")
            time.sleep(max(0.01, 20 * (time.monotonic() - begun)))

    def check_failed(self, so_far):
        failed = os.listdir(self.path("failed"))
        if failed:
            raise Failed(f"{so_far}, in failed there is {failed[0]}{self.last_words()}")

    def last_words(self):
        """The log's last lines: the folder is removed."""
        with open(self.path("log"), errors="replace") as log:
            return "".join(f"\n    {line.rstrip()[:300]}" for line in log.readlines()[-3:])

    def last_arrival(self):
        """When the last drop was settled, in seconds since 1970: the rename sets the inode's ctime."""
        times = []
        for name in ("processed", "output"):
            with os.scandir(self.path(name)) as entries:
                times += [entry.stat(follow_symlinks=False).st_ctime_ns for entry in entries]
        return max(times) / 1e9

    def journal(self):
        """For `with`."""
        return contextlib.closing(sqlite3.connect(self.path("state/journal.sqlite")))

    def last_claim(self):
        """In seconds since 1970."""
        with self.journal() as journal:
            return journal.execute("SELECT max(claimed_at) FROM jobs").fetchone()[0] / 1e9

    def known(self):
        """How many drops it knows to wait."""
        command = [self.binary, "status", "--json", "--state-dir", self.path("state")]
        return sum(pipeline["waiting"] for pipeline in json.loads(subprocess.check_output(command))["pipelines"])

    def cpu(self):
        """Seconds that it has computed so far: its CPU-time clock (clock_getcpuclockid(3))."""
        return time.clock_gettime((~self.process.id << 3) | 2)

    def memory(self, key="VmRSS"):
        """MiB; `VmHWM` for the most that it has had."""
        with open(f"/proc/{self.process.id}/status") as file:
            return int(re.search(rf"^{key}:\s+(\d+)", file.read(), re.M)[1]) / 1024

    def stop(self):
        """Ends it; seconds of CPU and the peak memory in MiB, with its helpers'."""
        os.kill(self.process.id, signal.SIGTERM)
        return self.ended()

    def ended(self):
        code, cpu, memory = self.process.ended()
        with open(self.path("log")) as log:
            told = next((line for line in log if re.search(r'"level":"(warning|error)"', line)), None)
        self.check_failed(f"the daemon ended with {code}")
        if code or told:
            raise Failed(f"the daemon ended with {code}: {told or self.last_words()}".rstrip())
        return cpu, memory
