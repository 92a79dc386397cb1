"""Named spreads: producers submit groups, any number of consumers draw their jobs, spread."""

from .aio import AsyncConsumer, AsyncNamedSpread, AsyncProducer
from .answers import (
    DeadLetter,
    DeadLetterCause,
    GroupState,
    GroupStatus,
    NamedSpreadSpec,
    Settlement,
    SpreadDescription,
    SpreadState,
    Verdict,
)
from .jobs import LeasedJob
from .sync import Consumer, NamedSpread, Producer

__all__ = [
    "AsyncConsumer",
    "AsyncNamedSpread",
    "AsyncProducer",
    "Consumer",
    "DeadLetter",
    "DeadLetterCause",
    "GroupState",
    "GroupStatus",
    "LeasedJob",
    "NamedSpread",
    "NamedSpreadSpec",
    "Producer",
    "Settlement",
    "SpreadDescription",
    "SpreadState",
    "Verdict",
]
