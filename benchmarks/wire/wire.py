"""Batches over the wire and in process, in Python: wire.py ADDRESS [SECONDS [IDS A CALL]]."""

from __future__ import annotations

import random
import statistics
import sys
import time
import uuid
from array import array
from datetime import timedelta
from typing import Callable

import offbeat

SLOT_SECONDS = 28_800
#: The column that is decided in process, for comparison.
OFFSETS = ["slot_offset_ticks"]
address = sys.argv[1]
seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 2.0
count = int(sys.argv[3]) if len(sys.argv) > 3 else 20_000

source = random.Random(8)
uuids = [uuid.UUID(int=source.getrandbits(128)) for _ in range(count)]
integers = [source.getrandbits(63) for _ in range(count)]
packed_uuids = b"".join(each.bytes for each in uuids)
integer_array = array("q", integers)
few_uuids, few_integers = uuids[:2_000], integers[:2_000]

client = offbeat.Client(address)
schedule = offbeat.Schedule(
    period=timedelta(seconds=3 * SLOT_SECONDS),
    slot_count=3,
    placement=offbeat.Placement.TWISTER,
    profile=offbeat.TwisterProfile.PYTHON,
)
by_hash = offbeat.Schedule(period=timedelta(seconds=3 * SLOT_SECONDS), slot_count=3)


def local_uuids() -> None:
    for each in few_uuids:
        random.Random(each.int).randrange(SLOT_SECONDS)


def local_integers() -> None:
    for each in few_integers:
        random.Random(each).randrange(SLOT_SECONDS)


contenders: dict[str, tuple[int, Callable[[], object]]] = {
    "in process, UUIDs": (len(few_uuids), local_uuids),
    "in process, integers": (len(few_integers), local_integers),
    "assign_packed, UUIDs": (count, lambda: client.assign_packed(schedule, uuids=packed_uuids)),
    "assign_packed, integers": (
        count,
        lambda: client.assign_packed(schedule, integers=integer_array),
    ),
    "assign_packed, offsets, UUIDs": (
        count,
        lambda: client.assign_packed(schedule, uuids=packed_uuids, columns=OFFSETS),
    ),
    "assign_packed, offsets, integers": (
        count,
        lambda: client.assign_packed(schedule, integers=integer_array, columns=OFFSETS),
    ),
    "assign_slots, UUIDs": (count, lambda: client.assign_slots(schedule, uuids)),
    "assign_slots, integers": (count, lambda: client.assign_slots(schedule, integers)),
    "assign_packed, UUIDs, HASH": (
        count,
        lambda: client.assign_packed(by_hash, uuids=packed_uuids),
    ),
}

# The server's answers must equal what Python itself computes.
answer = client.assign_packed(schedule, uuids=packed_uuids)
for each, offset in zip(uuids, answer.slot_offset_ticks):
    assert random.Random(each.int).randrange(SLOT_SECONDS) == offset
answer = client.assign_packed(schedule, integers=integer_array)
for number, offset in zip(integers, answer.slot_offset_ticks):
    assert random.Random(number).randrange(SLOT_SECONDS) == offset

#: Duration of a round: consecutive batches, as from a producer with many rows.
TURN_SECONDS = 0.1

# Alternate, so that other load on the machine affects all contenders alike.
rates: dict[str, list[float]] = {name: [] for name in contenders}
end = time.perf_counter() + seconds * len(contenders)
while time.perf_counter() < end or len(rates["in process, UUIDs"]) < 5:
    for name, (size, run) in contenders.items():
        begun, done, took = time.perf_counter(), 0, 0.0
        while took < TURN_SECONDS:
            run()
            done += size
            took = time.perf_counter() - begun
        rates[name].append(done / took)
for name, measured in rates.items():
    print(f"{name}\t{statistics.median(measured):.0f}")
