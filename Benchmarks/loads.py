"""What is dropped. A load fills a folder with files; its bytes are the same in each run."""
import base64, collections, io, os, random, shutil, subprocess, tempfile, zipfile
from scratch import Scratch

# `make` fills a folder; `archives`: whether there are archives among the files.
Load = collections.namedtuple("Load", "name count archives make summary")

MIB = 1 << 20


def small(count, size=1024):
    def make(folder):
        chance = random.Random(count)
        for number in range(count):
            with open(f"{folder}/file-{number:06}.bin", "wb") as file:
                file.write(chance.randbytes(16) * (size // 16))

    return Load(f"small-{count}", count, False, make, f"{count:,} files of 1 KiB")


def zips(count, entries, size=1024):
    def make(folder):
        for number in range(count):
            with open(f"{folder}/archive-{number:05}.zip", "wb") as file:
                file.write(zip_of(number, entries, size))

    return Load(f"archives-{count}x{entries}", count, True, make, f"{count:,} zip archives of {entries} files of 1 KiB")


def zip_of(seed, entries, size):
    chance = random.Random(seed)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for entry in range(entries):
            archive.writestr(f"folder/entry-{entry:04}.txt", base64.b64encode(chance.randbytes(size * 3 // 4)))
    return buffer.getvalue()


def big(kind, mebibytes, compressible=False):
    """One archive of a file or several: base64 of random bytes, which shrinks by a quarter; `compressible`: by far
    more, so that it needs little disk."""

    def make(folder):
        with tempfile.TemporaryDirectory(dir=folder, prefix=".") as inside:
            files = max(1, min(8, mebibytes // 16))
            for number in range(files):
                with open(f"{inside}/part-{number}.txt", "wb") as file:
                    chance = random.Random(number)
                    block = base64.b64encode(chance.randbytes(3 * MIB // 4))
                    for piece in range(mebibytes // files):
                        file.write(block if compressible else base64.b64encode(chance.randbytes(3 * MIB // 4)))
            pack(kind, inside, f"{folder}/big.{kind}")

    size = f"{mebibytes // 1024} GiB" if mebibytes >= 1024 else f"{mebibytes} MiB"
    return Load(f"{kind}-{mebibytes}M", 1, True, make, f"one {kind} of {size}")


def pack(kind, folder, target):
    names = sorted(os.listdir(folder))
    options = {
        "zip": ["--format", "zip", "--options", "zip:compression-level=1"],
        "tar.gz": ["--format", "pax", "--gzip", "--options", "gzip:compression-level=1"],
        "tar.zst": ["--format", "pax", "--zstd"],
    }[kind]
    subprocess.run(["bsdtar", *options, "-cf", target, "-C", folder, *names], check=True)


def mixed(files=2000, archives=100, large=8):
    def make(folder):
        small(files).make(folder)
        zips(archives, 20).make(folder)
        for number in range(large):
            with open(f"{folder}/large-{number}.bin", "wb") as file:
                file.write(random.Random(number).randbytes(16 * MIB))

    summary = f"{files:,} files of 1 KiB, {archives} archives of 20, {large} files of 16 MiB"
    return Load("mixed", files + archives + large, True, make, summary)


class Store(Scratch):
    """Makes each load once; what is measured gets a copy, whose files have no other names."""

    def __init__(self, folder):
        super().__init__("loads", folder)

    def fill(self, load, folder):
        kept = self.path(load.name)
        if not os.path.exists(kept):
            os.mkdir(kept)
            load.make(kept)
        subprocess.run(["cp", "-r", f"{kept}/.", folder], check=True)
        # What is measured must not wait for what was just copied.
        os.sync()

    def drop(self, load):
        shutil.rmtree(self.path(load.name), ignore_errors=True)
