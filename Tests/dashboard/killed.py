#!/usr/bin/env python3
"""The server is killed again and again during uploads and changes: the daemon goes on, no drop is half, nothing hidden stays.

    .build/tools/bin/python3 Tests/dashboard/killed.py --binary .build-release/release/dropmill [--rounds N] [--seed N]
"""

import argparse
import hashlib
import http.client
import os
import pathlib
import random
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from mill import Mill, until  # noqa: E402

PIECE = 1 << 16


def upload(mill, name, content, arrived):
    """Sends in pieces; notes that it has arrived where the server says so."""
    def pieces():
        for start in range(0, len(content), PIECE):
            yield content[start:start + PIECE]

    try:
        status, _ = mill.request("PUT", f"/api/v1/pipelines/covers/drops/{name}", pieces(), {"Content-Length": str(len(content))})
        if status == 201:
            arrived.add(name)
    except (OSError, http.client.HTTPException):
        pass


def change(mill, number):
    try:
        mill.request("POST", "/api/v1/pipelines/scans/hold", {"kind": "pause", "reason": f"round {number}"})
        mill.request("DELETE", "/api/v1/pipelines/scans/hold")
    except (OSError, http.client.HTTPException):
        pass


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--binary", type=pathlib.Path, required=True)
    arguments.add_argument("--rounds", type=int, default=100)
    arguments.add_argument("--seed", type=int, default=int(time.time()))
    wished = arguments.parse_args()
    chance = random.Random(wished.seed)
    print(f"seed {wished.seed}")
    mill = Mill(wished.binary.resolve())
    try:
        sent, arrived, daemon = {}, set(), mill.daemon.pid
        for number in range(wished.rounds):
            threads = [threading.Thread(target=change, args=(mill, number))]
            for part in range(3):
                name, content = f"{number}-{part}.bin", chance.randbytes(chance.randrange(8 << 20))
                sent[name] = hashlib.sha256(content).hexdigest()
                threads.append(threading.Thread(target=upload, args=(mill, name, content, arrived)))
            for thread in threads:
                thread.start()
            # When it dies is the point of it: before, during and after the uploads.
            time.sleep(chance.random() * 0.3)
            mill.kill(mill.server)
            for thread in threads:
                thread.join()
            mill.start_server()
        mill.says("resume", "scans")
        assert mill.daemon.pid == daemon and mill.daemon.poll() is None, "the daemon has ended"
        inbox = mill.root / "covers" / "in"
        until(lambda: not os.listdir(inbox), f"nothing is left in the inbox: {os.listdir(inbox)}", 60)
        out = mill.root / "covers" / "out"
        until(lambda: arrived <= {path.name for path in out.rglob("*.bin")}, "what has arrived is processed", 60)
        found = {path.name: hashlib.file_digest(path.open("rb"), "sha256").hexdigest() for path in out.rglob("*.bin")}
        half = [name for name, digest in found.items() if sent[name] != digest]
        assert not half, f"half: {half}"
        assert arrived <= found.keys(), f"lost: {arrived - found.keys()}"
        assert not list((mill.root / "covers" / "failed").rglob("*.bin"))
        print(f"{wished.rounds} kills, {len(sent)} uploads, {len(arrived)} told as arrived, {len(found)} processed, none half")
    finally:
        mill.end()


if __name__ == "__main__":
    main()
