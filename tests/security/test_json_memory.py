"""JSON that would expand in memory is refused before it does."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.server import MIB, Server
from wire import ASSIGN_SLOTS, ask, at_once

MOST_GROWTH = 64 * MIB
#: The default size limit of bulk methods.
LONGEST = 4 << 20
ALLOCATE = "/offbeat.v1.StageService/AllocateWorkers"


def read_mask() -> bytes:
    """A FieldMask is a single JSON string, in which each comma starts another path."""
    return b'{"readMask":"' + b"a," * 2_090_000 + b'a"}'


def nest() -> bytes:
    """Objects before nesting that is too deep to be counted."""
    return b'{"stages":[' + b"{}," * 1_300_000 + b'{}],"x":' + b"[" * 130 + b"]" * 130 + b"}"


def shallow_nest() -> bytes:
    """The original form of the same problem."""
    return b'{"stages":[' + b"{}," * 300_000 + b'{}],"x":' + b"[" * 130 + b"]" * 130 + b"}"


def unknown_keys() -> bytes:
    """An object of unknown fields."""
    pairs = ",".join(f'"{at}":1' for at in range(400_000))
    return b"{" + pairs.encode()[: LONGEST - 100].rpartition(b",")[0] + b"}"


def unknown_keys_within() -> bytes:
    """The same within a known field."""
    return b'{"schedule":{"spec":' + unknown_keys()[:-100].rpartition(b",")[0] + b"}}}"


def wrong_values() -> bytes:
    """A list of values of the wrong type."""
    return b'{"ids":{"integers":[' + b"[]," * 1_300_000 + b"[]]}}"


def late_mistake() -> bytes:
    """Valid up to the last field, which the code that explains refusals searches for."""
    ids = ",".join(f'"{at}"' for at in range(65_536))
    return b'{"ids":{"integers":[' + ids.encode() + b']},"kind":{"a":' + b"1" * 3_000_000 + b"}}"


HOSTILE = {
    "a mask of 2,090,000 paths": (ASSIGN_SLOTS, read_mask),
    "1,300,000 objects and a nest": (ALLOCATE, nest),
    "300,000 objects and a nest": (ALLOCATE, shallow_nest),
    "400,000 unknown keys": (ASSIGN_SLOTS, unknown_keys),
    "400,000 unknown keys of a schedule": (ASSIGN_SLOTS, unknown_keys_within),
    "1,300,000 lists for numbers": (ASSIGN_SLOTS, wrong_values),
    "a mistake at the end": (ASSIGN_SLOTS, late_mistake),
}


@pytest.mark.parametrize("times", [1, 7])
@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_json_takes_no_memory(serve: Callable[..., Server], what: str, times: int) -> None:
    path, make = HOSTILE[what]
    content, server = make(), serve()
    assert len(content) <= LONGEST
    assert ask(server.port, path, b"{}").status == 400  # idle memory includes a first call
    before = server.memory()
    server.forget_peak()

    def call(_: int) -> None:
        answer = ask(server.port, path, content, seconds=30)
        assert 400 <= answer.status < 500, answer
        assert len(answer.body) < 4_096

    at_once(times, call)
    grown = server.peak_memory() - before
    assert grown <= MOST_GROWTH, f"{grown / MIB:.0f} MiB"
