"""The limits of local decisions: the same as the sidecar's, in its words (docs/limits.md)."""

from __future__ import annotations

from typing import NamedTuple

from .rejections import OUT_OF_RANGE, Rejection


class Limit(NamedTuple):
    """A range that includes both ends, and its unit."""

    minimum: int
    maximum: int
    unit: str

    def allows(self, value: int) -> bool:
        return self.minimum <= value <= self.maximum

    def __str__(self) -> str:
        text = f"{self.minimum} to {self.maximum} {self.unit}".rstrip()
        return f"{self.minimum} {self.unit}" if self.minimum == self.maximum else text


PERIOD = Limit(1, 3_660 * 86_400_000, "ms")
RESOLUTION = Limit(1, 1_000, "ms")
SLOT_COUNT = Limit(1, 1 << 20, "slots")
SALT = Limit(0, 256, "bytes of UTF-8")
_PART = "characters (A-Z, a-z, 0-9, '.', '_' or '-')"
SCHEDULE_NAME = Limit(1, 64, _PART)
SCHEDULE_VERSION = Limit(1, 1_000_000, "")
NAMED_SCHEDULES = Limit(1, 1_000, "schedules")
REMEMBERED_SCHEDULES = Limit(0, 10_000, "schedules")
TEXT_ID = Limit(0, 1_024, "bytes of UTF-8")
KIND_NAME = Limit(1, 64, _PART)
KIND_COUNT = Limit(1, 1_000, "kinds")
CATCH_UP_TURNS = Limit(2, 65_536, "turns")
BATCH_IDS = Limit(1, 65_536, "IDs")
DETAILED_ERRORS = Limit(0, 1_000, "IDs")
NEXT_RUNS = Limit(0, 1_000, "runs")
LISTED_SLOTS = Limit(0, 4_096, "slots")
MASK_PATHS = Limit(0, 16, "paths")
SQL_NAME = Limit(1, 256, "bytes of UTF-8")
FIRST_PARAMETER_NUMBER = Limit(1, 65_000, "")
PREDICATE_BYTES = Limit(0, 3 << 20, "bytes")
CATCH_UP_HORIZON = Limit(0, 3_660 * 86_400_000, "ms")
DUE_RUNS = Limit(1, 65_536, "runs")
DUE_PAGED_RUNS = Limit(0, 16_777_216, "runs")
DUE_CYCLES = Limit(0, 16_777_216, "cycles and spans")
MEMBER_NAME = Limit(1, 128, "bytes of UTF-8")
LANE_COUNT = Limit(2, 16, "lanes")
LANE_WORKERS = Limit(0, 1_000_000, "workers")
LANE_TIMEOUT_MILLIS = Limit(1, 366 * 86_400_000, "ms")


def in_range(field: str, value: int, limit: Limit) -> int:
    if not limit.allows(value):
        raise Rejection(OUT_OF_RANGE, field, value, f"must be {limit}")
    return value
