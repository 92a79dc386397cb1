"""A schedule of three kinds, and their places by Python's own arithmetic."""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta, timezone

from offbeat import Schedule

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
PERIOD = timedelta(hours=8)
THREE = Schedule(PERIOD, slot_count=96, kinds=["import", "export", "check"])
SLOTS = {"import": 0, "export": 32, "check": 64}


def digest(id_value: object) -> bytes:
    return hashlib.md5(str(id_value).encode()).digest()


def place(id_value: object, kind: str) -> tuple[int, timedelta]:
    """Return slot and offset of an ID's kind in the cycle of ``THREE``."""
    h = int.from_bytes(digest(id_value)[:8], "big")
    offset = (h * 28_800 >> 64) + SLOTS[kind] * 300
    return offset % 28_800 // 300, timedelta(seconds=offset % 28_800)
