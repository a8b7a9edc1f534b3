#!/usr/bin/env python3
"""What the page costs, and how fast it is: a large upload, answers from a long journal, streams beside settling, scrapes.

    page.py --binary PROGRAM [--folder FOLDER] [--jobs 1000000] [PART…]

The parts: upload, journal, streams, scrapes. Each prints a line for a figure, with its bound, and the end is 1 where one is missed.
"""

import argparse
import http.client
import os
import pathlib
import signal
import socket
import sqlite3
import statistics
import sys
import threading
import time
import urllib.parse

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Tests" / "dashboard"))

from mill import Mill, until  # noqa: E402

QUICK = """
name: {name}
inbox: {root}/{name}/in
processed: {root}/{name}/done
failed: {root}/{name}/failed
upload: true
ready: {{ quiet: 100ms }}
stages:
  - checksum
"""
missed = []


def tell(what, value, unit, bound=None, is_most=True):
    """Prints a figure; `bound`: the most, or the least, that it may be."""
    good = bound is None or (value <= bound if is_most else value >= bound)
    if not good:
        missed.append(what)
    limit = "" if bound is None else f"  ({'at most' if is_most else 'at least'} {bound:g}{'' if good else ', MISSED'})"
    print(f"{what:58} {value:10.3f} {unit}{limit}", flush=True)


def status(process, key):
    """Of /proc, in KiB."""
    return int(next(line.split()[1] for line in open(f"/proc/{process.pid}/status") if line.startswith(f"{key}:")))


def processor(process):
    fields = open(f"/proc/{process.pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def upload(wished):
    mill = Mill(wished.binary, ["covers"], folder=wished.folder, stages=QUICK)
    try:
        mill.says("pause", "covers")
        size, piece = 2 << 30, memoryview(bytes(range(256)) * 4096)
        host, port = urllib.parse.urlsplit(mill.url).netloc.split(":")
        rates = []
        for number in range(3):
            connection = socket.create_connection((host, int(port)))
            head = f"PUT /api/v1/pipelines/covers/drops/{number}.bin HTTP/1.1\r\nHost: {host}:{port}\r\nAuthorization: Bearer {mill.token}\r\nContent-Length: {size}\r\n\r\n"
            begun = time.monotonic()
            connection.sendall(head.encode())
            for _ in range(size // len(piece)):
                connection.sendall(piece)
            answer = connection.recv(4096)
            rates.append(size / (time.monotonic() - begun) / 1e6)
            assert answer.startswith(b"HTTP/1.1 201"), answer
            (mill.root / "covers" / "in" / f"{number}.bin").unlink()
            connection.close()
        tell("an upload of 2 GiB, the best of three", max(rates), "MB/s", 500, is_most=False)
        tell("the most that the server had resident", status(mill.server, "VmHWM") / 1024, "MiB", 40)
    finally:
        mill.end()


def fill(mill, jobs):
    """Makes a journal of so many out of one that was processed and one that failed."""
    (mill.root / "covers" / "in" / "good.pdf").write_bytes(b"x")
    until(lambda: len(mill.jobs()) == 1, "one job", 30)
    mill.kill(mill.daemon, signal.SIGTERM)
    journal = sqlite3.connect(mill.root / "state" / "journal.sqlite")
    columns = [row[1] for row in journal.execute("PRAGMA table_info(jobs)")]
    (job,) = [dict(zip(columns, row)) for row in journal.execute("SELECT * FROM jobs LIMIT 1")]
    failure = '{"class":"file","code":"archive.damaged","summary":"The archive ends too early.","remedy":"Send it again.","detail":""}'
    letters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

    def made(number):
        at = job["claimed_at"] - number * 1_000_000_000
        milliseconds, random = at // 1_000_000, number
        text = "".join(letters[milliseconds >> shift & 31] for shift in range(45, -5, -5)) + "".join(letters[random >> shift & 31] for shift in range(75, -5, -5))
        row = {**job, "id": text, "name": f"scan_{number}.pdf".encode(), "claimed_at": at, "finished_at": at + 1000, "dropped_at": at}
        # As many failed as a page lists, also where there are few; most of those were sent in again.
        if number % 20 == 0:
            row |= {"state": "failed", "failure": failure, "failed_stage": "checksum", "open": at + 1000 if number % 1000 == 500 else None}
        return [row[column] for column in columns]

    marks = ", ".join("?" * len(columns))
    journal.executemany(f"INSERT INTO jobs VALUES ({marks})", (made(number) for number in range(1, jobs)))
    journal.commit()
    journal.close()
    mill.start_daemon()


VERBS = {"the verb status": ["status"], "the verb jobs --name": ["jobs", "--name", "scan_77*"]}
BOUNDS = {"the verb status": 50, "the verb jobs --name": 200}


def answers(wished, jobs):
    """The 95th percentile of each page's request, in milliseconds, of 200 warm ones."""
    mill = Mill(wished.binary, ["covers", "scans"], folder=wished.folder, stages=QUICK)
    try:
        fill(mill, jobs)
        connection = http.client.HTTPConnection(urllib.parse.urlsplit(mill.url).netloc, timeout=120)

        def ask(path):
            connection.request("GET", path, headers={"Authorization": f"Bearer {mill.token}"})
            answer = connection.getresponse()
            text = answer.read()
            assert answer.status == 200, (path, answer.status, text[:300])
            return text

        some = mill.jobs(state="failed")[0]["id"]
        next_page = mill.request("GET", "/api/v1/jobs?limit=200")[1]["next"]
        paths = {"overview": "/api/v1/overview", "pipeline": "/api/v1/pipelines/covers", "waiting": "/api/v1/waiting", "jobs": "/api/v1/jobs", "older jobs": f"/api/v1/jobs?before={next_page}",
                 "failed jobs": "/api/v1/jobs?state=failed", "jobs of a pipeline": "/api/v1/jobs?pipeline=covers", "jobs of none": "/api/v1/jobs?pipeline=scans",
                 "jobs by code": "/api/v1/jobs?code=archive.damaged", "jobs by an unknown code": "/api/v1/jobs?code=nothing.such", "jobs by name": "/api/v1/jobs?name=scan_7.pdf",
                 "a job": f"/api/v1/jobs/{some}", "failed": "/api/v1/failed", "changes": "/api/v1/changes", "metrics": "/metrics"}
        found = {}
        for name, path in paths.items():
            for _ in range(5):
                ask(path)
            times = []
            for _ in range(200):
                begun = time.monotonic()
                ask(path)
                times.append((time.monotonic() - begun) * 1000)
            found[name] = statistics.quantiles(times, n=20)[-1]
        for name, verb in VERBS.items():
            times = []
            for _ in range(40):
                begun = time.monotonic()
                mill.says(*verb)
                times.append((time.monotonic() - begun) * 1000)
            found[name] = statistics.quantiles(times, n=20)[-1]
        return found
    finally:
        mill.end()


def journal(wished):
    few, many = answers(wished, 1000), answers(wished, wished.jobs)
    for name, value in many.items():
        tell(f"{name}: p95 with {wished.jobs:,} jobs", value, "ms", BOUNDS.get(name, 100))
        tell(f"{name}: to that with 1,000", value / few[name], "", 3)


def settle(wished, streams, mills, drops=5000):
    """How many drops a second are settled while so many browsers are told.

    The mill is left for later: ext4 looks long for room among what was removed in the last seconds."""
    mill = Mill(wished.binary, ["covers"], folder=wished.folder, stages=QUICK)
    mills.append(mill)
    try:
        host, port = urllib.parse.urlsplit(mill.url).netloc.split(":")
        told = [0] * streams

        def listen(index, connection):
            while piece := connection.recv(1 << 16):
                told[index] += len(piece)

        connections = [socket.create_connection((host, int(port))) for _ in range(streams)]
        for index, connection in enumerate(connections):
            connection.sendall(f"GET /api/v1/events HTTP/1.1\r\nHost: {host}:{port}\r\nAuthorization: Bearer {mill.token}\r\n\r\n".encode())
            threading.Thread(target=listen, args=(index, connection), daemon=True).start()
        until(lambda: all(told), "every stream begins", 30)
        place = mill.root / "covers" / "in"
        (mill.root / "covers" / "done").mkdir(exist_ok=True)
        mill.says("pause", "covers")
        for number in range(drops):
            (place / f"{number}.txt").write_bytes(b"x")
        until(lambda: mill.request("GET", "/api/v1/overview")[1]["pipelines"][0].get("waiting", {}).get("complete", 0) == drops, "all are complete", 120)
        begun = time.monotonic()
        mill.says("resume", "covers")
        # Beside each lies its checksum.
        until(lambda: sum(name.endswith(".txt") for name in os.listdir(mill.root / "covers" / "done")) == drops, "all are settled", 300)
        rate = drops / (time.monotonic() - begun)
        for connection in connections:
            connection.close()
        return rate
    finally:
        mill.stop()


def streams(wished):
    rates, mills = {0: [], 64: []}, []
    try:
        for _ in range(wished.pairs):
            for count in rates:
                rates[count].append(settle(wished, count, mills))
    finally:
        for mill in mills:
            mill.end()
    for count, found in rates.items():
        tell(f"settled beside {count} streams, the median", statistics.median(found), "drops/s")
    tell("the ratio", statistics.median(a / b for a, b in zip(rates[64], rates[0])), "", 0.97, is_most=False)


def scrapes(wished):
    mill = Mill(wished.binary, ["covers", "scans"], folder=wished.folder, stages=QUICK)
    try:
        mill.request("GET", "/metrics")
        before, begun = processor(mill.daemon), time.monotonic()
        for number in range(200):
            while time.monotonic() < begun + number / 10:
                time.sleep(0.005)
            assert mill.request("GET", "/metrics")[0] == 200
        tell("ten scrapes a second, of one core of the daemon", (processor(mill.daemon) - before) / (time.monotonic() - begun) * 100, "%", 1)
    finally:
        mill.end()


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("parts", nargs="*", metavar="PART", choices=[[], "upload", "journal", "streams", "scrapes"])
    arguments.add_argument("--binary", type=lambda text: pathlib.Path(text).resolve(), required=True)
    arguments.add_argument("--folder", default="/var/tmp")
    arguments.add_argument("--jobs", type=int, default=1_000_000)
    arguments.add_argument("--pairs", type=int, default=3)
    wished = arguments.parse_args()
    for part in wished.parts or ["upload", "journal", "streams", "scrapes"]:
        globals()[part](wished)
    if missed:
        print(f"missed: {', '.join(missed)}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
