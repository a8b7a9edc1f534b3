"""What docs/benchmarks.md promises, beside what was measured."""
import operator

COLUMNS = ("fast", "full")


def judged(results):
    """The targets that something was measured of: text, value by durability, and whether all values meet it."""
    found = []

    def target(text, values, most=None, least=None):
        """`values` for `fast` and `full`, None: not measured; `most` and `least`: one bound, or one for each."""
        meets, bound = (operator.le, most) if least is None else (operator.ge, least)
        bounds = bound if isinstance(bound, tuple) else (bound, bound)
        met = [meets(value, bound) for value, bound in zip(values, bounds) if value is not None]
        if met:
            found.append({"target": text} | dict(zip(COLUMNS, values)) | {"met": all(met)})

    def both(by_durability, get):
        return [get(by_durability[name]) if name in by_durability else None for name in COLUMNS]

    def of_limit(kind, ratio, suffix=""):
        """The name of the load of that kind, and its ratios; `suffix`: which contenders'."""
        name = next((name for name in results if name.startswith(kind)), kind)
        measured = results.get(name, {})
        by_durability = {column: measured[column + suffix] for column in COLUMNS if column + suffix in measured}
        return name, both(by_durability, lambda figures: figures["ratios"][ratio])

    def full(values):
        """The worst of what is measured with `durability: full` only."""
        return [None, max(values, default=None)]

    name, values = of_limit("small-20000", "rate")
    target(f"{name}: part of the limit's rate, at least 0.6 (fast), 0.4 (full)", values, least=(0.6, 0.4))
    name, values = of_limit("small-20000", "rate", "-list")
    target(f"{name}, digests in one list: the same, at least 0.6 (fast), 0.35 (full)", values, least=(0.6, 0.35))
    values = both(results.get("latency", {}), lambda figures: figures["p99"])
    target("p99 of single drops beyond quiet, at most 20 ms", values, 20)
    for kind, most in (("archives-", 1.2), ("zip-", 1.1), ("tar.zst-", 1.1)):
        name, values = of_limit(kind, "wall_s")
        target(f"{name}: times the limit's wall time, at most {most}", values, most)
    idle = results.get("idle", [])
    target("idle CPU, at most 0.3 %", full([each["cpu_percent"] for each in idle]), 0.3)
    target("idle memory, at most 30 MiB", full([each["rss_mib"] for each in idle]), 30)
    waiting = results.get("waiting")
    if waiting:
        text = f"memory with {waiting['files']:,} files waiting, at most 120 MiB"
        target(text, full([waiting["peak_rss_mib"]]), 120)
    for start in results.get("start", []):
        text, most = f"start to first claim, {start['rows']:,} rows", 2000 if start["rows"] else 50
        target(f"{text}, at most {most:,} ms", full([start["first_claim_ms"]]), most)
    values = both(results.get("counts", {}).get("small file", {}), lambda figures: figures.get("rows"))
    target("journal rows written for a settled job, at most 2.2", values, 2.2)
    return found
