#!/usr/bin/env python3
"""Lets one daemon take many drops of all kinds and looks at what it holds on to.

    make soak [DROPS=1000000]
    Benchmarks/soak.py [--drops N] [--rate N] [--folder DIR] [--binary FILE]

Small files, archives, broken archives and files in subfolders come at a steady rate, at least 70 a second; what is
published is removed again. After each tenth the inbox runs empty, and resident memory, descriptors and threads are looked
at. The exit status is 1 where memory at the end is more than 2 MiB above that after the first tenth, where descriptors or
threads grew by more than come and go (Dispatch keeps a few threads), or where a drop did not end.
"""
import argparse, io, os, shutil, signal, statistics, subprocess, sys, threading, time, zipfile

PIPELINE = """\
inbox: {folder}/inbox
processed: delete
failed: {folder}/failed
ready: {{ quiet: 50ms }}
match: {{ depth: all }}
stages:
  - unpack: {{ require: false }}
  - checksum
  - move: {{ to: "{folder}/output" }}
"""
MOST_GROWTH = (2048, 2, 3)


def archive(number, members=4):
    """A zip of a few small files."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as file:
        for member in range(members):
            file.writestr(f"m{member}.txt", f"{number}/{member}\n" * 20)
    return data.getvalue()


def content(number):
    """What the drop of that number is: its name and bytes. In ten there are six files, two in subfolders, an archive and a
    broken one."""
    kind = number % 10
    if kind == 8:
        return f"d{number}.zip", archive(number)
    if kind == 9:
        return f"d{number}.zip", archive(number)[:150]
    folder = f"s{number // 10 % 20}/" if kind in (6, 7) else ""
    return f"{folder}d{number}.dat", (f"{number}\n" * 40).encode()


class Daemon:
    def __init__(self, binary, folder):
        self.log = open(f"{folder}/log", "wb")
        self.process = subprocess.Popen(
            [binary, "run", f"{folder}/soak.yaml", "--state-dir", f"{folder}/state", "--keep-history", "1h",
             "--log-level", "warning"], stderr=self.log, stdout=self.log)

    def runs(self):
        """Whether it does; what it said where it does not."""
        if self.process.poll() is None:
            return True
        with open(self.log.name, errors="replace") as log:
            sys.exit(f"the daemon ended with {self.process.returncode}: {log.read()[-2000:]}")

    def memory(self, of="VmRSS"):
        """KiB."""
        with open(f"/proc/{self.process.pid}/status") as status:
            return int(dict(line.split(":", 1) for line in status)[of].split()[0])

    def look(self):
        """Resident KiB, descriptors, threads at rest: the least of each within half a minute. An idle daemon gives back
        what it need not keep, and what comes and goes with the work of a moment is not held on to."""
        looks = []
        for _ in range(120):
            time.sleep(0.25)
            count = [len(os.listdir(f"/proc/{self.process.pid}/{table}")) for table in ("fd", "task")]
            looks.append((self.memory(), *count))
        return tuple(map(min, zip(*looks)))

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(120)


def sweep(folder, stopping):
    """Removes what was published and what failed, so that the disk does not fill."""
    while not stopping.wait(1):
        for place in ("output", "failed"):
            for entry in os.scandir(f"{folder}/{place}"):
                # Only what has stood: a settlement may still be moving things beside it.
                if time.time() - entry.stat(follow_symlinks=False).st_ctime < 5:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path, ignore_errors=True)
                else:
                    os.remove(entry.path)


def waiting(folder):
    return sum(len(files) for _, _, files in os.walk(f"{folder}/inbox"))


def soak(arguments, folder):
    for name in ["inbox", "output", "failed"] + [f"inbox/s{number}" for number in range(20)]:
        os.makedirs(f"{folder}/{name}")
    with open(f"{folder}/soak.yaml", "w") as file:
        file.write(PIPELINE.format(folder=folder))
    daemon = Daemon(arguments.binary, folder)
    stopping = threading.Event()
    sweeper = threading.Thread(target=sweep, args=(folder, stopping))
    sweeper.start()
    began, looks, busy, tenth = time.monotonic(), [], [], arguments.drops // 10
    try:
        for number in range(1, arguments.drops + 1):
            name, data = content(number)
            with open(f"{folder}/hidden", "wb") as file:
                file.write(data)
            os.rename(f"{folder}/hidden", f"{folder}/inbox/{name}")
            if number % 200 == 0:
                busy.append(daemon.memory("RssAnon"))
                ahead = number / arguments.rate - (time.monotonic() - began)
                if ahead > 0:
                    time.sleep(ahead)
                while waiting(folder) > 5000 and daemon.runs():
                    time.sleep(0.2)
            if number % tenth == 0:
                deadline = time.monotonic() + 120
                while waiting(folder) and daemon.runs() and time.monotonic() < deadline:
                    time.sleep(0.2)
                looks.append(daemon.look())
                rate = number / (time.monotonic() - began)
                print("%9d drops: at rest %6d KiB resident, %3d descriptors, %3d threads; at work %6d KiB of its own; "
                      "%5.0f drops/s" % (number, *looks[-1], statistics.median(busy), rate), flush=True)
                busy.clear()
        left = waiting(folder)
    finally:
        stopping.set()
        sweeper.join()
        status = daemon.stop()
    grown = [last - first for first, last in zip(looks[0], looks[-1])]
    print("grew by %d KiB, %d descriptors, %d threads; %d drops left in the inbox; exit status %d"
          % (*grown, left, status))
    return all(grew <= most for grew, most in zip(grown, MOST_GROWTH)) and left == 0 and status == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--drops", type=int, default=1_000_000)
    parser.add_argument("--rate", type=float, default=2000, help="at most so many drops a second")
    parser.add_argument("--folder", default="/var/tmp")
    parser.add_argument("--binary", default=".build-release/release/dropmill")
    arguments = parser.parse_args()
    arguments.binary = os.path.abspath(arguments.binary)
    folder = os.path.join(arguments.folder, f"dropmill-soak-{os.getpid()}")
    os.makedirs(folder)
    try:
        return 0 if soak(arguments, folder) else 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)


sys.exit(main())
