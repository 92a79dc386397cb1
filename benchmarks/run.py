"""Runs the comparisons, one after the other, and writes docs/benchmarks.md of what they print.

run.py [SECTION...]; `benchmarks/run.sh` makes ready what it needs.
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
import time
from pathlib import Path

from page import wrapped, write
from sections import BUILT, ROOT, SECTIONS, Section

KEPT = BUILT / "bench" / "results"
PYTHON = os.environ.get("OFFBEAT_PYTHON", sys.executable)
PACKAGES = ("grpcio", "protobuf", "simpy", "ciw", "apportionment")
DEBIAN = ("libgrpc++-dev", "libcurl4", "redis-server", "ruby-google-protobuf")


def main() -> int:
    wanted = sys.argv[1:] or list(SECTIONS)
    if unknown := [name for name in wanted if name not in SECTIONS]:
        print(f"usage: run.py [{' | '.join(SECTIONS)}]..., not {unknown[0]}", file=sys.stderr)
        return 64
    KEPT.mkdir(parents=True, exist_ok=True)
    begun, failed = time.monotonic(), []
    for name in wanted:
        print(f"== {name}", flush=True)
        lines = measured(SECTIONS[name])
        if lines is None:
            failed.append(name)
            continue
        result = {"lines": lines, "machine": machine(), "load": os.getloadavg()[0]}
        (KEPT / f"{name}.json").write_text(json.dumps(result, indent=1))
        write(kept())
    took = time.monotonic() - begun
    print(f"measured {len(wanted) - len(failed)} of {len(wanted)} sections in {took:.0f} s")
    if failed:
        print(f"FAILED: {', '.join(failed)}", file=sys.stderr)
    return int(bool(failed))


def kept() -> dict[str, dict]:
    """Return the results of the last run of each section, by name."""
    paths = {name: KEPT / f"{name}.json" for name in SECTIONS}
    return {name: json.loads(path.read_text()) for name, path in paths.items() if path.exists()}


def measured(section: Section) -> list[list[str]] | None:
    """Run a section, and return what it printed: rows of names and figures."""
    environment = {**os.environ, "OFFBEAT_PYTHON": PYTHON}
    try:
        done = subprocess.run(
            section.command,
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            timeout=section.timeout,
            check=True,
        )
    except (subprocess.SubprocessError, OSError) as error:
        print(error, file=sys.stderr)
        return None
    lines = [line.split("\t") for line in done.stdout.splitlines() if "\t" in line]
    for line in lines:
        print("  " + "\t".join(line))
    return lines


def first_line(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30)
    except OSError:
        return ""
    return (done.stdout.splitlines() or [""])[0]


def machine() -> str:
    """Say what ran, on what."""
    cpu = Path("/proc/cpuinfo").read_text()

    def of_cpu(key: str) -> str:
        found = re.search(rf"^{key}\s*: (.*)$", cpu, re.MULTILINE)
        return found[1] if found else ""

    flags = of_cpu("flags").split()
    vectors = [name for flag, name in (("avx2", "AVX2"), ("avx512f", "AVX-512")) if flag in flags]
    model = f"{of_cpu('model name')} (family {of_cpu('cpu family')}, model {of_cpu('model')})"
    hypervisor = "a virtual machine" if "hypervisor" in flags else "no virtual machine"
    packages = first_line(
        PYTHON,
        "-c",
        "import importlib.metadata as m\n"
        f"print(', '.join(f'{{name}} {{m.version(name)}}' for name in {PACKAGES!r} "
        "if any(d.metadata['Name'].lower() == name for d in m.distributions())))",
    )
    debian = [
        f"{name} {version}"
        for name in DEBIAN
        if (version := first_line("dpkg-query", "--show", "--showformat=${Version}\n", name))
    ]
    versions = [
        first_line("rustc", "--version"),
        first_line(PYTHON, "--version"),
        first_line("ruby", "--version").partition(" (")[0],
        first_line("php", "--version").partition(" (")[0],
    ]
    commit = first_line("git", "rev-parse", "--short", "HEAD")
    day = time.strftime("%-d %B %Y", time.gmtime())
    return wrapped(
        f"{model}, {os.cpu_count()} cores of {hypervisor}, {', '.join(vectors) or 'no AVX2'}; "
        f"Linux {platform.release()}. {', '.join(versions)}. Python packages: {packages}. "
        f"Debian packages: {', '.join(debian)}. Offbeat {commit}, {day}."
    )


if __name__ == "__main__":
    sys.exit(main())
