"""What kind of machine this is: read from the system's own files, nothing is run."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from shutil import disk_usage, which

_VIRTUAL = (
    "kvm", "qemu", "virtualbox", "vmware", "virtual machine", "hyper-v", "xen", "bochs", "parallels", "bhyve",
    "amazon ec2", "google compute engine", "openstack", "droplet", "apple virtualization",
)  # fmt: skip
_CONTAINERS = (("docker", "Docker"), ("kubepods", "Kubernetes"), ("lxc", "LXC"), ("libpod", "Podman"))


def system_name() -> str:
    """The system with its version, the kernel and the kind of processor."""
    import platform  # costs what only this should pay

    kernel = f"{platform.system()} {platform.release()}"
    named = {"linux": _linux_name, "darwin": _mac_name, "win32": _windows_name}.get(sys.platform, lambda: "")()
    return f"{named + ', ' if named else ''}{kernel}, {platform.machine() or 'unknown processor'}"


def _linux_name() -> str:
    fields = dict(line.split("=", 1) for line in _text("/etc/os-release").splitlines() if "=" in line)
    return fields.get("PRETTY_NAME", "").strip("\"'")


def _mac_name() -> str:
    import platform

    return f"macOS {platform.mac_ver()[0]}".strip()


def _windows_name() -> str:
    import platform

    return " ".join(part for part in ("Windows", platform.win32_ver()[0], platform.win32_edition() or "") if part)


def surroundings() -> str:
    """Whether it is a container, a virtual machine or Windows' Linux; "" for none of them that can be seen."""
    if sys.platform != "linux":
        return ""
    found: list[str] = []
    version = _text("/proc/version").lower()
    if "microsoft" in version:
        found.append("WSL 2" if "wsl2" in version or "microsoft-standard" in version else "WSL")
    groups = _text("/proc/1/cgroup") + _text("/proc/self/mountinfo")[:20_000]
    container = next((name for mark, name in _CONTAINERS if mark in groups), "")
    if Path("/.dockerenv").exists():
        container = container or "Docker"
    if Path("/run/.containerenv").exists():
        container = "Podman"
    if container:
        found.append(f"container ({container})")
    product = f"{_text('/sys/class/dmi/id/sys_vendor')} {_text('/sys/class/dmi/id/product_name')}".strip().lower()
    virtual = next((name for name in _VIRTUAL if name in product), "")
    if virtual or "hypervisor" in _text("/proc/cpuinfo", 20_000):
        found.append(f"virtual machine{f' ({virtual})' if virtual else ''}")
    return ", ".join(found)


def processors() -> str:
    """How many there are, what they are called, and how busy they are."""
    count = os.cpu_count() or 0
    mine = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else count
    model = next((line.partition(":")[2].strip() for line in _text("/proc/cpuinfo", 20_000).splitlines()
                  if line.startswith("model name")), "")  # fmt: skip
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    some = f" ({mine} for this program)" if mine != count else ""
    return f"{count} processor{'s' * (count != 1)}{some}{f', {model}' if model else ''}{load}"


def memory() -> str:
    """How much there is and how much is free; a container's limit when it is lower."""
    import psutil  # 25 ms

    now = psutil.virtual_memory()
    limits = [int(text) for name in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
              if (text := _text(name).strip()).isdecimal()]  # fmt: skip
    limit = min((n for n in limits if n < now.total), default=0)
    cap = f", limited to {amount(limit)}" if limit else ""
    swap = psutil.swap_memory().total
    return f"{amount(now.total)} memory, {amount(now.available)} free{cap}" + (f", {amount(swap)} swap" * bool(swap))


def disk(folder: Path) -> str:
    """How large the file system of a folder is, and how much is free."""
    try:
        usage = disk_usage(folder)
    except OSError:
        return "unknown"
    return f"{amount(usage.total)}, {amount(usage.free)} free"


def amount(count: int) -> str:
    """Bytes for people."""
    size = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if size >= 100 or unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"


def place_and_time(env: Mapping[str, str]) -> str:
    """Language and encoding, time zone and the time now."""
    from datetime import datetime

    language = next((env[name] for name in ("LC_ALL", "LC_CTYPE", "LANG") if env.get(name)), "not set")
    zone = env.get("TZ", "").lstrip(":") or _zone() or time.tzname[0]
    now = datetime.now().astimezone()
    return f"locale {language}, time zone {zone} (UTC{now.strftime('%z')}), now {now.strftime('%Y-%m-%d %H:%M')}"


def _zone() -> str:
    named = os.path.realpath("/etc/localtime").partition("zoneinfo/")[2]
    return named or _text("/etc/timezone").strip()


def on_path(names: tuple[str, ...], env: Mapping[str, str]) -> list[str]:
    """Those programs that are there."""
    path = env.get("PATH", os.defpath)
    return [name for name in names if which(name, path=path) is not None]


def _text(path: str, most: int = 64 * 1024) -> str:
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - a text all the way
            return file.read(most).decode("utf-8", "replace").replace("\0", "").strip()
    except OSError:
        return ""
