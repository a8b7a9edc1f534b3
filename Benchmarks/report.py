"""What every run leaves: the machine it was made on, and what was found, as JSON."""
import json, os, platform


def machine(folder):
    with open("/proc/cpuinfo") as lines:
        model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "")
    return {
        "kernel": platform.release(),
        "processor": model,
        "cores": os.cpu_count(),
        "file_system": _file_system(folder),
        "load_before": os.getloadavg()[0],
    }


def _file_system(folder):
    """Its type: of those mounted at the folder or above it, the one that is nearest, and the last of several there."""
    folder = os.path.realpath(folder)
    with open("/proc/self/mounts") as lines:
        mounts = [line.split()[1:3] for line in lines]
    above = [(point, kind) for point, kind in mounts if os.path.commonpath([point, folder]) == point]
    return max(reversed(above), key=lambda mount: len(mount[0]), default=("", "unknown"))[1]


def write(path, found):
    """Whole or not at all."""
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with open(f"{path}.part", "w") as file:
        json.dump(found, file, indent=1)
    os.rename(f"{path}.part", path)
