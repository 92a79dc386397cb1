"""A table of 50,000 rows, with the same IDs stored in every supported way."""

from __future__ import annotations

import hashlib
import random
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

ROWS = 50_000
SALT = "it's 5% of café: a \\ and a $1"


@dataclass(frozen=True)
class Account:
    n: int
    uuid: uuid.UUID
    small: int
    big: int
    huge: int
    text: str
    fraction: float

    @property
    def swapped(self) -> bytes:
        """The bytes that UUID_TO_BIN(x, 1) of MySQL makes, by its manual."""
        raw = self.uuid.bytes
        return raw[6:8] + raw[4:6] + raw[0:4] + raw[8:]

    @property
    def mixed_case(self) -> str:
        """The UUID as text, in any case."""
        text = str(self.uuid)
        return (text, text.upper(), text[:18].upper() + text[18:])[self.n % 3]

    @property
    def hash_digits(self) -> str:
        """The column of a table without MD5: the first digits of the hash of salt and UUID."""
        return hashlib.md5(f"{SALT}{self.uuid}".encode()).hexdigest()[:16]


def accounts() -> Iterator[Account]:
    """Make the same rows every time."""
    rng = random.Random(2328)
    edges = [0, 1, -1, 255, 256, -255, -256, -257, 65_535, 65_536, -65_536, 2**63 - 1, -(2**63)]
    huge_edges = [2**128 - 1, -(2**128 - 1), 2**64, -(2**64), 2**127]
    words = [
        "",
        " ",
        "a",
        "a ",
        " a",
        "É",
        "é",
        "e\u0301",
        "😀",
        "Ω\\n",
        "'",
        '"',
        "%s",
        "?",
        "x" * 200,
    ]
    for n in range(ROWS):
        version = (1, 3, 4, 4, 7)[n % 5]
        # The variant of RFC 9562: otherwise MariaDB's type uuid rejects it.
        bits = rng.getrandbits(128) & ~(0xF << 76 | 0xC << 60) | version << 76 | 0x8 << 60
        big = rng.randrange(-(2 ** rng.choice([8, 16, 31, 63])), 2 ** rng.choice([8, 16, 31, 63]))
        huge = rng.getrandbits(rng.choice([8, 63, 64, 65, 127, 128])) * rng.choice([1, -1])
        yield Account(
            n=n,
            uuid=uuid.UUID(int=bits),
            small=rng.randrange(-(2**31), 2**31),
            big=edges[n] if n < len(edges) else big,
            huge=huge_edges[n] if n < len(huge_edges) else huge,
            text=words[n]
            if n < len(words)
            else f"tenant-{rng.randrange(10**9)} {rng.choice(words)}",
            fraction=(0.0, 1 - 2**-53, 5e-324)[n] if n < 3 else rng.random(),
        )


DAY = timedelta(days=1)
