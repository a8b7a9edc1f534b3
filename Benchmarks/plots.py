"""Plots as PNG, small enough to lie beside the docs."""
import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot


def draw(found, across, up, scale, path):
    """Time and CPU for each to the left, memory to the right; what grows in step with the number is level. `scale`: how
    many of the unit `up` are a second."""
    figure, times = pyplot.subplots(figsize=(6.4, 3.2), dpi=100)
    at = [step["at"] for step in found]
    wall, cpu = ([step[key] / step["at"] * scale for step in found] for key in ("wall_s", "cpu_s"))
    times.plot(at, wall, "o-", color="tab:blue", label="time")
    times.plot(at, cpu, "s--", color="tab:green", label="CPU")
    times.set_xscale("log")
    # From zero, so that a little looks little, unless the least would lie on the axis.
    if max(wall + cpu) > 10 * min(wall + cpu):
        times.set_yscale("log")
    else:
        times.set_ylim(0, 1.15 * max(wall + cpu))
    times.set_xlabel(across)
    times.set_ylabel(up)
    memory = times.twinx()
    memory.plot(at, [step["peak_rss_mib"] for step in found], "^:", color="tab:red", label="peak memory")
    memory.set_ylim(0, 1.15 * max(step["peak_rss_mib"] for step in found))
    memory.set_ylabel("MiB")
    lines = times.get_lines() + memory.get_lines()
    # `ncols` from matplotlib 3.6 on only.
    figure.legend(lines, [line.get_label() for line in lines], loc="upper center", ncol=3, frameon=False)
    figure.tight_layout(rect=(0, 0, 1, 0.92))
    figure.savefig(path, pil_kwargs={"optimize": True})
    pyplot.close(figure)
