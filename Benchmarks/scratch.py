"""Folders of our own below the one that is measured, which are gone when they are left, however that comes."""
import os, shutil, tempfile, time

# The kernel's clock for the times of files (CLOCK_REALTIME_COARSE): a tick behind the other.
COARSE = 5


class Scratch:
    """`with` it: at the end the program that runs in it is killed, and the folder removed."""

    def __init__(self, kind, folder, names=()):
        self.process = None
        self.root = tempfile.mkdtemp(prefix=f"dropmill-{kind}-", dir=folder)
        for name in names:
            os.mkdir(self.path(name))

    def path(self, name):
        return os.path.join(self.root, name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process:
            self.process.kill()
        # What the killed one had started may be at its last file.
        for _ in range(50):
            shutil.rmtree(self.root, ignore_errors=True)
            if not os.path.exists(self.root):
                break
            time.sleep(0.1)


def now():
    """Seconds since 1970, comparable to the ctime of a file."""
    return time.clock_gettime(COARSE)
