"""The limit: the same bytes by plain tools over a known list, by two processes, with no watching, no waiting and no
syncs. bsdtar unpacks, openssl hashes many files a call, mv moves many files a call."""
import os, shutil, subprocess, tempfile, time

# $1: the folder; $2: how many names one process takes.
PLAIN = """
cd "$1/inbox" || exit
ls >../names
xargs -P2 -n"$2" sh -c 'openssl dgst -sha256 -r -- "$@" >../output/$$.sha256' sh <../names || exit
xargs -P2 -n"$2" mv -t ../processed -- <../names
"""

ARCHIVES = """
cd "$1/inbox" || exit
ls | grep -E '\\.(zip|tar\\.gz|tar\\.zst)$' >../archives
ls | grep -vE '\\.(zip|tar\\.gz|tar\\.zst)$' >../names
xargs -r -P2 -n8 sh -c 'for n; do mkdir "../output/$n" && bsdtar -xf "$n" -C "../output/$n" || exit 255; done' sh \
    <../archives || exit
(cd ../output && find . -type f >../unpacked &&
    xargs -r -P2 -n"$2" sh -c 'openssl dgst -sha256 -r -- "$@" >$$.sha256' sh <../unpacked) || exit
xargs -r -P2 -n"$2" sh -c 'openssl dgst -sha256 -r -- "$@" >../output/plain.$$.sha256' sh <../names || exit
cat ../names ../archives | xargs -P2 -n"$2" mv -t ../processed --
"""


class Limit:
    """Its folders are made new below `folder`, and removed by `close`."""

    def __init__(self, folder):
        self.root = tempfile.mkdtemp(prefix="dropmill-limit-", dir=folder)
        for name in ("inbox", "output", "processed"):
            os.mkdir(self.path(name))

    def path(self, name):
        return os.path.join(self.root, name)

    def command(self, load):
        # Both processes get the same share, and no command line grows too long.
        share = max(1, min(1000, (load.count + 1) // 2))
        return ["sh", "-c", ARCHIVES if load.archives else PLAIN, "limit", self.root, str(share)]

    def run(self, load, wrapper=()):
        """Seconds of wall time and of CPU, and the most memory of one process in MiB."""
        begun = time.monotonic()
        process = subprocess.Popen([*wrapper, *self.command(load)])
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall = time.monotonic() - begun
        moved = len(os.listdir(self.path("processed")))
        if process.returncode or moved != load.count:
            raise SystemExit(f"the plain tools ended with {process.returncode} and moved {moved} of {load.count}")
        return wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024

    def close(self):
        shutil.rmtree(self.root)
