"""Schedules of elapsed cycles whose IDs have weights; times are milliseconds.

Runs are walked cycle by cycle, pieces are placed by text.
"""

from __future__ import annotations

import hashlib
import random
from datetime import datetime, timedelta, timezone

from decisions import EPOCH, Spec, rfc3339

AT = datetime(2026, 1, 1, 3, 4, 5, tzinfo=timezone.utc)
MILLI = timedelta(milliseconds=1)


def since_epoch(instant: datetime) -> int:
    return (instant - EPOCH) // MILLI


def at_millis(millis: int) -> str:
    return rfc3339(EPOCH + timedelta(milliseconds=millis))


def reversed_bits(piece: int) -> int:
    return int(format(piece, "064b")[::-1], 2)


class Weighted(Spec):
    """A schedule whose IDs have weights."""

    def __init__(self, *arguments, quantum=None, **more):
        super().__init__(*arguments, **more)
        self.quantum = quantum
        if quantum is not None:
            head, salt, rest = self.canonical_text.partition("\nsalt=")
            self.canonical_text = f"{head}\nweight_quantum={quantum}{salt}{rest}"
            self.fingerprint = hashlib.sha256(self.canonical_text.encode()).hexdigest()
            self.identity = {
                "fingerprint": self.fingerprint,
                "runKeyRoot": self.fingerprint,
            }

    def json(self, **more):
        if self.quantum is not None:
            more["weightQuantum"] = str(self.quantum)
        return super().json(**more)

    def digest(self, canonical):
        return hashlib.md5((self.salt + canonical).encode()).hexdigest()

    def smear(self, canonical, piece=0):
        """The number below 2^64 that smears a piece."""
        return (int(self.digest(canonical)[16:], 16) + reversed_bits(piece)) % 2**64

    def offset(self, canonical, own, piece=0):
        """Milliseconds from the cycle's start; `own` is the ID itself, where it is no text."""
        ticks = self.period // self.tick
        if self.placement == "HASH":
            h = (int(self.digest(canonical)[:16], 16) + reversed_bits(piece)) % 2**64
            return h * ticks // 2**64 * self.tick
        if self.placement == "FRACTION":
            first = min(int(own * ticks), ticks - 1)
        else:
            bucket = own % (self.buckets or 256)
            slot = bucket * self.slots // (self.buckets or 256)
            first = slot * (ticks // self.slots) + random.Random(own).randrange(ticks // self.slots)
        return (first + reversed_bits(piece) * ticks // 2**64) % ticks * self.tick

    def pieces(self, weight):
        return max(1, min(self.slots, -(-weight // self.quantum)))

    def run_at(self, cycle, offset):
        return since_epoch(self.anchor) + cycle * self.period + offset

    def cycle_of(self, millis):
        return (millis - since_epoch(self.anchor)) // self.period

    def runs(self, offset, start, end):
        """(Cycle, start) of the runs in [start, end), cycle by cycle."""
        cycles = range(self.cycle_of(start) - 1, self.cycle_of(end) + 2)
        found = [(cycle, self.run_at(cycle, offset)) for cycle in cycles]
        return [(cycle, run) for cycle, run in found if start <= run < end]

    def next(self, offset, millis):
        return self.runs(offset, millis, millis + 2 * self.period)[0]

    def last(self, offset, millis):
        return self.runs(offset, millis - 2 * self.period, millis)[-1]


HASH = Weighted(28_800_000, 128, quantum=10)
SALTED = Weighted(86_400_000, 1_440, tick=250, salt="s\nt=", quantum=1_000)
STORED = Weighted(86_400_000, 96, "FRACTION", quantum=7)
DRAWN = Weighted(28_800_000, 15, "TWISTER", profile="PYTHON", quantum=3)
