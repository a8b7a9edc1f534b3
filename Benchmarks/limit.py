"""The limit: the same bytes by plain tools over a known list, by two processes, with no watching, no waiting and no
syncs. bsdtar unpacks, openssl hashes many files a call, mv moves many files a call."""
import os, time
from process import Failed, Process
from scratch import Scratch

# $1: the folder. Both processes get the same share of the names, and no command line grows too long.
SHARED = """
share() { n=$((($(wc -l <"$1") + 1) / 2)); echo $((n < 1 ? 1 : n > 1000 ? 1000 : n)); }
cd "$1/inbox" || exit
"""

PLAIN = SHARED + """
ls >../names
share=$(share ../names)
xargs -P2 -n"$share" sh -c 'openssl dgst -sha256 -r -- "$@" >../output/$$.sha256' sh <../names || exit
xargs -P2 -n"$share" mv -t ../processed -- <../names
"""

ARCHIVES = SHARED + """
ls | grep -E '\\.(zip|tar\\.gz|tar\\.zst)$' >../archives
ls | grep -vE '\\.(zip|tar\\.gz|tar\\.zst)$' >../names
xargs -r -P2 -n8 sh -c 'for n; do mkdir "../output/$n" && bsdtar -xf "$n" -C "../output/$n" || exit 255; done' sh \
    <../archives || exit
(cd ../output && find . -type f >../unpacked &&
    xargs -r -P2 -n"$(share ../unpacked)" sh -c 'openssl dgst -sha256 -r -- "$@" >$$.sha256' sh <../unpacked) || exit
xargs -r -P2 -n"$(share ../names)" sh -c 'openssl dgst -sha256 -r -- "$@" >../output/plain.$$.sha256' sh \
    <../names || exit
cat ../names ../archives >../all
xargs -P2 -n"$(share ../all)" mv -t ../processed -- <../all
"""


class Limit(Scratch):
    def __init__(self, folder):
        super().__init__("limit", folder, ("inbox", "output", "processed"))

    def run(self, load, wrapper=()):
        """Seconds of wall time and of CPU, and the peak memory in MiB."""
        begun = time.monotonic()
        script = ARCHIVES if load.archives else PLAIN
        self.process = Process([*wrapper, "sh", "-c", script, "limit", self.root])
        code, cpu, memory = self.process.ended()
        wall = time.monotonic() - begun
        moved = len(os.listdir(self.path("processed")))
        if code or moved != load.count:
            raise Failed(f"the plain tools ended with {code} and moved {moved} of {load.count}")
        return wall, cpu, memory
