#!/usr/bin/env python3
"""The API by its own document: schemathesis makes requests of it, wrong ones too. Nothing is answered by a 5xx, nor by what the document does not have.

    .build/tools/bin/python3 Tests/dashboard/schema.py --binary .build-release/release/dropmill [--examples N]
"""

import argparse
import os
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from mill import Mill  # noqa: E402

# `not_a_server_error` without 503: a daemon that is asked for too much at a time says so.
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--binary", type=pathlib.Path, required=True)
    arguments.add_argument("--examples", type=int, default=50)
    wished = arguments.parse_args()
    mill = Mill(wished.binary.resolve())
    try:
        for name in ("a.pdf", "b.pdf"):
            (mill.root / "covers" / "in" / name).write_bytes(b"x")
        schemathesis = pathlib.Path(sys.executable).with_name("schemathesis")
        done = subprocess.run([
            schemathesis, "--no-color", "run", f"{mill.url}/api/v1/openapi.json", "--checks", CHECKS, "--max-examples", str(wished.examples),
            "--header", f"Authorization: Bearer {mill.token}", "--seed", "1", "--request-timeout", "30", "--generation-database", "none",
            # A stream never ends, and without its session nobody could go on.
            "--exclude-path", "/api/v1/events", "--exclude-path", "/logout", "--exclude-path", "/login",
        ], cwd=mill.root)
        assert mill.daemon.poll() is None and mill.server.poll() is None, "a process has ended"
        assert mill.request("GET", "/api/v1/overview")[0] == 200
        return done.returncode
    finally:
        mill.end()


if __name__ == "__main__":
    sys.exit(main())
