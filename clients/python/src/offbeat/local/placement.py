"""Placements: how an ID becomes a place in the cycle, before kinds move it.

``proto/offbeat/v1/schedule.proto`` defines each of them, bit for bit.
"""

from __future__ import annotations

import hashlib
import random
from typing import NamedTuple

from .ids import PlainId
from .rejections import ID_TYPE_UNSUITABLE, Rejection, debug_number_text, quoted

HASH, TWISTER, FRACTION = "HASH", "TWISTER", "FRACTION"

_TAKES = {HASH: ("UUID", "integer", "text"), TWISTER: ("UUID", "integer"), FRACTION: ("fraction",)}
_ALLOWED = {
    HASH: "HASH takes UUIDs, integers and text; a stored fraction needs FRACTION",
    TWISTER: "TWISTER takes UUIDs and integers; text has no meaning as a seed: use HASH",
    FRACTION: "FRACTION takes the fraction in [0, 1) that the caller stored",
}


class Grid(NamedTuple):
    """A cycle cut into slots, and how IDs are placed in it."""

    placement: str
    slot_count: int
    slot_ticks: int
    #: With HASH only; in UTF-8.
    salt: bytes = b""
    #: With TWISTER only.
    bucket_count: int = 0

    @property
    def period_ticks(self) -> int:
        return self.slot_count * self.slot_ticks

    def offset(self, plain: PlainId) -> tuple[int, int | float]:
        """Return ticks from the start of the cycle, and the number that decided them."""
        if plain.type_name not in _TAKES[self.placement]:
            raise _unsuitable(self.placement, plain)
        if self.placement == HASH:
            hashed = digest(self.salt, plain.text) >> 64
            return hashed * self.period_ticks >> 64, hashed
        if self.placement == FRACTION:
            ticks = self.period_ticks
            return min(int(plain.fraction * ticks), ticks - 1), plain.fraction
        bucket = plain.number % self.bucket_count
        slot = bucket * self.slot_count // self.bucket_count
        # A separate generator, so that the state of the module's own one does not change.
        drawn = random.Random(plain.number).randrange(self.slot_ticks)
        return slot * self.slot_ticks + drawn, bucket


def digest(salt: bytes, text: str) -> int:
    """Return MD5(salt + canonical text) as one big-endian integer. It is not for security."""
    hashed = hashlib.md5(salt + text.encode(), usedforsecurity=False)
    return int.from_bytes(hashed.digest(), "big")


def hash_bound(offset: int, ticks: int) -> int:
    """Return the smallest hash whose offset in a cycle of ``ticks`` is at least ``offset``."""
    return -((-offset << 64) // ticks)


def _unsuitable(placement: str, plain: PlainId) -> Rejection:
    shown = plain.text
    if plain.type_name == "fraction":
        shown = debug_number_text(plain.fraction)
    elif plain.type_name == "text":
        shown = quoted(plain.text)
    value = f"the {plain.type_name} {shown}"
    return Rejection(ID_TYPE_UNSUITABLE, "", value, _ALLOWED[placement])
