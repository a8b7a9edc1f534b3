"""What a drop costs in system calls, syncs and rows of the journal, counted on runs of their own: what is counted is
slow, so nothing is timed there. `durability` None: the plain tools."""
from limit import Limit
from mill import Mill, stages_for

SYNCS = "fsync,fdatasync,syncfs"


def calls(folder, binary, durability, load_of, count):
    """System calls for each drop, by name. Two runs, one over twice as many drops: the difference is free of what
    starting and stopping take."""
    fewer, more = (_traced(folder, binary, durability, load_of(number), ()) for number in (count, 2 * count))
    each = {name: (more.get(name, 0) - fewer.get(name, 0)) / count for name in fewer.keys() | more.keys()}
    return dict(sorted(each.items(), key=lambda call: -call[1]))


def syncs(folder, binary, durability, load):
    """Syncs for each drop. All other calls run untraced, so that batches are as large as they are without."""
    traced = _traced(folder, binary, durability, load, ["--seccomp-bpf", "-e", f"trace={SYNCS}"])
    return sum(traced.values()) / load.count


def rows(folder, binary, durability, load):
    """Rows of the journal that are written for each drop, counted by triggers."""
    with _mill(folder, binary, durability, load) as mill:
        # Makes the journal.
        mill.run_once()
        with mill.journal() as journal:
            journal.execute("CREATE TABLE written (rows INTEGER)")
            journal.execute("INSERT INTO written VALUES (0)")
            for event in ("INSERT", "UPDATE"):
                journal.execute(
                    f"CREATE TRIGGER count_{event} AFTER {event} ON jobs BEGIN UPDATE written SET rows = rows + 1; END")
            journal.commit()
        load.make(mill.path("inbox"))
        mill.run_once()
        with mill.journal() as journal:
            return journal.execute("SELECT rows FROM written").fetchone()[0] / load.count


def _mill(folder, binary, durability, load):
    return Mill(folder, binary, stages=stages_for(load), durability=durability, quiet=0.05)


def _traced(folder, binary, durability, load, options):
    with _mill(folder, binary, durability, load) if durability else Limit(folder) as contender:
        trace = contender.path("trace")
        wrapper = ["strace", "-f", "-c", "-qq", *options, "-o", trace]
        load.make(contender.path("inbox"))
        if durability:
            contender.run_once(wrapper)
        else:
            contender.run(load, wrapper)
        found = {}
        with open(trace) as lines:
            for line in lines:
                # "  0.53    0.000021          10         2         1 name": the errors may be left out.
                words = line.split()
                if len(words) >= 5 and words[0].replace(".", "").isdigit() and words[-1] != "total":
                    found[words[-1]] = int(words[3])
    return found
