"""Counts the instructions of hot paths, which are free of noise, and compares them with a table.

check.py [--write] [HOT_PATHS [OFFBEAT]]: the example `hot_paths` of the core and, if given, the
server, both built by `cargo build --release`. Both run under callgrind, which lacks AVX-512.

Each path runs n times and then 2n times; the difference excludes the cost of starting. The
counts hold for one compiler, which the table names. With another one, or without callgrind,
the script says so and compares nothing. With --write the counts become the table.
"""

from __future__ import annotations

import os
import platform
import re
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from support.ports import free_port

TABLE = Path(__file__).with_name("counts.tsv")
#: Share of the count in the table. A difference either way is a failure: after an improvement,
#: the table must be written again.
TOLERANCE = 0.03
TIMES = {"one": 2_000, "route": 4_000, "nothing": 1_000}
#: Calls of each method. Under callgrind, a server is some fifty times slower.
QUESTIONS = {"AssignSlot": 300, "AssignSlots, 4,096 UUIDs": 6, "ListSlots": 60}


def main() -> int:
    arguments = [argument for argument in sys.argv[1:] if argument != "--write"]
    write = "--write" in sys.argv
    here = machine()
    if here is None:
        print("NOT COUNTED: there is no valgrind", file=sys.stderr)
        return 0
    if not write and (there := read_machine()) != here:
        print(
            f"NOT COMPARED: the table is of {there},\n  this is {here}.\n"
            "  Counts depend on the compiler: where the table's is not used any more, make a new "
            "one with --write.",
            file=sys.stderr,
        )
        return 0
    begun = time.monotonic()
    counts = core(arguments[0])
    if len(arguments) > 1:
        counts.update(server(arguments[1]))
    print(f"counted in {time.monotonic() - begun:.0f} s")
    if write:
        kept = {name: value for name, value in read_counts().items() if name not in counts}
        rows = [f"{name}\t{value:.1f}" for name, value in sorted({**kept, **counts}.items())]
        TABLE.write_text("\n".join([f"# {here}", "# path\tinstructions an item", *rows]) + "\n")
        return 0
    return compare(counts, read_counts())


def compare(counts: dict[str, float], table: dict[str, float]) -> int:
    wrong = 0
    for name, value in counts.items():
        expected = table.get(name)
        if expected is None:
            print(f"{name}: {value:.1f} instructions, and not in the table")
            wrong += 1
            continue
        share = value / expected - 1
        bad = abs(share) > TOLERANCE
        wrong += bad
        print(f"{name}: {value:.1f} instructions an item, {share:+.1%}{' WRONG' if bad else ''}")
    if wrong:
        print(
            f"{wrong} hot paths have other counts than {TABLE.name}. If that is meant, make it "
            "again with --write, and say why.",
            file=sys.stderr,
        )
    return int(wrong > 0)


def machine() -> str | None:
    """Return the name of the compiler and the machine, on which the counts depend."""
    try:
        valgrind = output("valgrind", "--version").strip()
    except FileNotFoundError:
        return None
    compiler = output("rustc", "--version").strip()
    return f"{compiler}, {platform.machine()}, {valgrind}"


def read_machine() -> str:
    return TABLE.read_text().splitlines()[0].removeprefix("# ") if TABLE.exists() else "nothing"


def read_counts() -> dict[str, float]:
    if not TABLE.exists():
        return {}
    lines = [line for line in TABLE.read_text().splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in (line.split("\t") for line in lines)}


def output(*command: str) -> str:
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True, timeout=60)
    return done.stdout


def counted(stderr: str) -> int:
    return int(re.search(r"Collected : (\d+)", stderr)[1])


CALLGRIND = ("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null")


def core(program: str) -> dict[str, float]:
    """Return the instructions per item of each of the core's paths."""
    paths = [line.split("\t") for line in output(program).splitlines()]
    for name, _, usable in paths:
        if usable != "usable":
            print(f"NOT COUNTED: {name}, {usable}", file=sys.stderr)
    paths = [(name, int(items)) for name, items, usable in paths if usable == "usable"]

    def count(name: str, items: int) -> float:
        times = next((times for word, times in TIMES.items() if word in name.split(" ")), 4)
        found = []
        for walks in (times, 2 * times):
            command = [*CALLGRIND, program, name, str(walks)]
            done = subprocess.run(
                command, stderr=subprocess.PIPE, check=True, text=True, timeout=120
            )
            found.append(counted(done.stderr))
        return (found[1] - found[0]) / times / items

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        counts = pool.map(lambda path: count(*path), paths)
        return {f"core: {name}": value for (name, _), value in zip(paths, counts)}


def server(program: str) -> dict[str, float]:
    """Return the instructions per call of the whole server, without those of its connections."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        counts = pool.map(
            lambda name: (
                (ask(program, name, 2 * QUESTIONS[name]) - ask(program, name, QUESTIONS[name]))
                / QUESTIONS[name]
            ),
            QUESTIONS,
        )
        return {f"server: {name}": value for name, value in zip(QUESTIONS, counts)}


def ask(program: str, name: str, times: int) -> int:
    """Return the instructions of a server that answers this number of calls."""
    address = f"127.0.0.1:{free_port()}"
    command = [*CALLGRIND, program, "serve", "--listen", address, "--admin-listen", "off"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        for line in process.stderr:
            if "listening" in line:
                break
        method, message = question(name)
        head = (
            f"POST /offbeat.v1.SlotService/{method} HTTP/1.1\r\nhost: {address}\r\n"
            "content-type: application/proto\r\nconnect-protocol-version: 1\r\n"
            f"content-length: {len(message)}\r\n\r\n"
        )
        with socket.create_connection(("127.0.0.1", int(address.rpartition(":")[2]))) as connection:
            connection.settimeout(60)
            answers = connection.makefile("rb")
            for _ in range(times):
                connection.sendall(head.encode() + message)
                status = answers.readline()
                assert b" 200 " in status, status
                length = 0
                while (line := answers.readline().strip().lower()) != b"":
                    if line.startswith(b"content-length:"):
                        length = int(line.partition(b":")[2])
                assert len(answers.read(length)) == length > 0
        process.send_signal(signal.SIGTERM)
        _, rest = process.communicate(timeout=60)
        return counted(rest)
    finally:
        process.kill()
        process.wait()


def question(name: str) -> tuple[str, bytes]:
    """Return a method and the bytes of its request, for a day of 144 slots by hash."""

    def field(number: int, value: bytes | int) -> bytes:
        if isinstance(value, int):
            return varint(number << 3) + varint(value)
        return varint(number << 3 | 2) + varint(len(value)) + value

    schedule = field(1, field(1, field(1, field(1, 86_400)) + field(5, 144)))
    noon = field(1, 1_767_268_800)
    if name == "AssignSlot":
        return "AssignSlot", schedule + field(2, field(2, bytes(range(16)))) + field(3, noon)
    if name == "ListSlots":
        return "ListSlots", schedule + field(2, noon)
    ids = bytes((n * 37 + n // 256) % 256 for n in range(16 * 4_096))
    return "AssignSlots", schedule + field(2, field(1, ids)) + field(3, noon)


def varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


if __name__ == "__main__":
    sys.exit(main())
