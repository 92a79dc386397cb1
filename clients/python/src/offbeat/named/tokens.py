"""Tokens that identify a lease in another process."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..errors import refused

_TEXT = re.compile(r"([0-9]{1,20})\.([0-9]{1,20})\.([0-9]{1,10})", re.ASCII)


@dataclass(frozen=True)
class LeaseToken:
    """Identifies a lease to :meth:`NamedSpread.settle`, also in a process that did not pull it.

    Of two leases of a job, the later one has the larger token: compare epoch, sequence and
    attempt, in this order.

    >>> LeaseToken.parse(str(LeaseToken(epoch=1, sequence=5, attempt=2)))
    LeaseToken(epoch=1, sequence=5, attempt=2)
    """

    #: The epoch of the spread.
    epoch: int
    #: The job's position in the order of first attempts, from 0.
    sequence: int
    #: How many times it has been leased, from 1.
    attempt: int

    def __str__(self) -> str:
        """Return the token as text, for a message."""
        return f"{self.epoch}.{self.sequence}.{self.attempt}"

    @classmethod
    def parse(cls, text: str) -> LeaseToken:
        """Parse the text of a token."""
        found = _TEXT.fullmatch(text)
        if found is None:
            raise refused("token", text, "must be EPOCH.SEQUENCE.ATTEMPT, as str() gives it")
        token = cls(*map(int, found.groups()))
        if max(token.epoch, token.sequence) >= 1 << 63 or token.attempt >= 1 << 31:
            raise refused("token", text, "must have numbers that a lease may have")
        return token
