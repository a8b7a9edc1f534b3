"""A program that is measured: what it and all that it starts use."""
import ctypes, os, signal, subprocess, sys, threading

PAGE = os.sysconf("SC_PAGE_SIZE")
SET_CHILD_SUBREAPER = 36  # prctl(2)


class Failed(Exception):
    """What is measured did not do its work. The report says so, and what comes next is measured."""


class Process:
    """Runs in a session of its own, so that whatever it started can be ended with it. Its peak memory is the most that
    it and its descendants had resident together, looked at 20 times a second: `ru_maxrss` is of one process only, and
    at least what this one had when it started that."""

    def __init__(self, command, **options):
        # What is left of it when it ends becomes a child of this process, and its CPU is counted too.
        ctypes.CDLL(None).prctl(SET_CHILD_SUBREAPER, 1)
        self.running = subprocess.Popen(command, start_new_session=True, **options)
        self.id = self.running.pid
        self.peak = 0
        self.over = threading.Event()
        self.sampler = threading.Thread(target=self._sample, daemon=True)
        self.sampler.start()

    def _sample(self):
        while not self.over.is_set():
            self.peak = max(self.peak, resident(self.id))
            self.over.wait(0.05)

    def runs(self):
        return os.waitid(os.P_PID, self.id, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None

    def ended(self):
        """Waits for its end: the exit code, seconds of CPU and the peak in MiB, each with what it started."""
        _, status, used = os.wait4(self.id, 0)
        seconds = used.ru_utime + used.ru_stime
        self.running.returncode = os.waitstatus_to_exitcode(status)
        for orphan in self._orphans():
            # The kernel ends those of the daemon with it.
            used = os.wait4(orphan, 0)[2]
            seconds += used.ru_utime + used.ru_stime
        self.over.set()
        self.sampler.join()
        return self.running.returncode, seconds, self.peak / (1 << 20)

    def _orphans(self):
        """Processes of its session that became this one's children."""
        return [child for child in children(os.getpid()) if fields(child)[3:4] == [b"%d" % self.id]]

    def kill(self):
        """Ends it and what it started, if it has not ended."""
        if self.running.returncode is None:
            os.killpg(self.id, signal.SIGKILL)
            self.ended()


def resident(process, stack=None):
    """Bytes that a process and its descendants have resident; pages that several share count for each of them."""
    found = fields(process)
    if not found:
        return 0
    # Until it runs a program of its own, a child is its parent: the same stack, the same pages.
    own = 0 if found[25] == stack else int(found[21]) * PAGE
    return own + sum(resident(child, found[25]) for child in children(process))


def fields(process):
    """What proc(5) says of it after its name; nothing where it has ended."""
    return _read(f"/proc/{process}/stat").rpartition(b")")[2].split()


def children(process):
    try:
        tasks = os.listdir(f"/proc/{process}/task")
    except OSError:
        return []
    return [int(child) for task in tasks for child in _read(f"/proc/{process}/task/{task}/children").split()]


def _read(path):
    """Nothing where the process has ended meanwhile."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def clean_up_when_told_to_end():
    """As with Ctrl-C, what was begun is ended and removed."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
