"""Named spreads: producers submit groups, and any number of consumers pull their jobs, spread."""

from .aio import AsyncConsumer, AsyncNamedSpread, AsyncProducer
from .answers import (
    DeadLetter,
    DeadLetterCause,
    EmptyReason,
    GroupState,
    GroupStatus,
    NamedSpreadSpec,
    SettleAction,
    SettleOutcome,
    SettleResult,
    SpreadCounts,
    SpreadDescription,
    SpreadLimits,
    SpreadState,
)
from .jobs import LeasedJob, PulledJobs
from .pump import Pump
from .sync import Consumer, NamedSpread, Producer
from .tokens import LeaseToken

__all__ = [
    "AsyncConsumer",
    "AsyncNamedSpread",
    "AsyncProducer",
    "Consumer",
    "DeadLetter",
    "DeadLetterCause",
    "EmptyReason",
    "GroupState",
    "GroupStatus",
    "LeaseToken",
    "LeasedJob",
    "NamedSpread",
    "NamedSpreadSpec",
    "Producer",
    "PulledJobs",
    "Pump",
    "SettleAction",
    "SettleOutcome",
    "SettleResult",
    "SpreadCounts",
    "SpreadDescription",
    "SpreadLimits",
    "SpreadState",
]
