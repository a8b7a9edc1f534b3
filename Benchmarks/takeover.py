#!/usr/bin/env python3
"""Measures what taking over the drops of another user costs (docs/security.md).

    Benchmarks/takeover.py --binary FILE --folder DIR [--files N] [--large MIB] [--rounds N]

Run it as root. Each way is measured beside drops of Dropmill's own user in the same run: `chown` with the daemon as root;
`copy` with the daemon as an ordinary user, which shares blocks where DIR is on xfs or btrfs (`reflink`). Prints the seconds
and the daemon's CPU for N files of 4 KiB and for one large file, and the difference for each.
"""
import argparse, os, resource, shutil, subprocess, sys, tempfile, time

SENDER, SERVICE, GROUP = 64002, 64001, 64010


def run(binary, base, daemon, sender, files, size):
    """Seconds and CPU seconds of one daemon that settles what is there."""
    root = tempfile.mkdtemp(prefix="takeover-", dir=base)
    try:
        for name in ("inbox", "processed", "failed", "state"):
            os.mkdir(f"{root}/{name}")
            os.chown(f"{root}/{name}", daemon, GROUP)
        os.chown(root, daemon, GROUP)
        os.chmod(root, 0o755)
        block = os.urandom(min(size, 1 << 20))
        for number in range(files):
            path = f"{root}/inbox/{number:06}.bin"
            with open(path, "wb") as file:
                for _ in range(max(1, size // len(block))):
                    file.write(block)
            os.chown(path, sender, GROUP)
            os.chmod(path, 0o644)
        os.sync()
        with open(f"{root}/mill.yaml", "w") as file:
            file.write("inbox: inbox\nprocessed: processed\nfailed: failed\nready: { quiet: 50ms }\n"
                       "min_free: 0\nstages: [checksum]\n")
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        subprocess.run([binary, "run", "--once", f"{root}/mill.yaml", "--state-dir", f"{root}/state"], check=True,
                       user=daemon, group=GROUP, extra_groups=[], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        seconds, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        done = sum(name.endswith(".bin") for name in os.listdir(f"{root}/processed"))
        assert done == files, f"{done} of {files} processed"
        return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    finally:
        shutil.rmtree(root)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--large", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    binary = os.path.abspath(arguments.binary)
    for way, daemon in (("chown", 0), ("copy", SERVICE)):
        for files, size in ((arguments.files, 4096), (1, arguments.large << 20)):
            found = {}
            for _ in range(arguments.rounds):
                for sender in (daemon, SENDER):
                    found.setdefault(sender, []).append(run(binary, arguments.folder, daemon, sender, files, size))
            own, others = (min(found[sender]) for sender in (daemon, SENDER))
            print(f"{way:6} {files:6} x {size >> 10} KiB: own {own[0]:.2f} s, {own[1]:.2f} s CPU; taken over "
                  f"{others[0]:.2f} s, {others[1]:.2f} s CPU; a file {1e6 * (others[1] - own[1]) / files:+.0f} us CPU, "
                  f"{1e6 * (others[0] - own[0]) / files:+.0f} us", flush=True)


if __name__ == "__main__":
    sys.exit(main())
