"""How evenly a sample of IDs fills the slots."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from ._questions import Question
from ._rows import IdError, id_errors
from ._weights import InStep, checked_weight
from .answers import ExpectedLoad
from .ids import IdEncoder, IdType, IdValue, checked_ids, checked_text
from .schedule import AnySchedule, schedule_message
from .times import to_timestamp
from .v1 import audit_pb2 as pb


class AuditFinding(enum.IntEnum):
    """Problems of a sample of IDs."""

    #: UUIDs of version 1 or 6 under ``Placement.TWISTER``: nearly all fall into a few slots.
    TIME_BASED_UUIDS = 1
    #: Integers with a common divisor under ``Placement.TWISTER``: buckets stay empty.
    SPARSE_INTEGERS = 2
    #: The slots differ by more than chance explains.
    UNEVEN = 3
    #: IDs that occur more than once.
    DUPLICATES = 4
    #: One slot holds far more weight than the mean, because of a single ID.
    HEAVY_ID = 5
    #: IDs that never run, because exclusions skip all their runs.
    NEVER_RUN = 6


@dataclass(frozen=True)
class AuditWarning:
    """Something wrong with a sample of IDs."""

    finding: AuditFinding
    #: The finding in a sentence, with figures and advice.
    message: str


@dataclass(frozen=True)
class Audit:
    """How evenly a sample of IDs fills the slots."""

    #: Fingerprint of the schedule.
    fingerprint: str
    #: IDs that were not refused.
    id_count: int
    #: Load of each slot: IDs, or with weights the weight of their pieces.
    slot_loads: tuple[float, ...] = field(repr=False)
    #: Index of the fullest slot; if several are equally full, of the first.
    fullest_slot_index: int
    fullest_load: float
    #: ``fullest_load`` divided by the mean load.
    fullest_to_mean_ratio: float
    #: The load of the fullest slot to expect by chance, for as many IDs without weights.
    expected_load: ExpectedLoad
    empty_slot_count: int
    #: Pearson's chi-square of the IDs in the slots.
    chi_square: float
    #: Probability that chance alone is as uneven; ``None`` with fewer than five IDs a slot.
    p_value: float | None
    #: What is wrong, worst first.
    warnings: tuple[AuditWarning, ...]
    #: The refused IDs.
    errors: tuple[IdError, ...]

    @classmethod
    def from_message(cls, message: pb.AuditIdsResponse) -> Audit:
        """Read it from a message."""
        return cls(
            fingerprint=message.identity.fingerprint,
            id_count=message.id_count,
            slot_loads=tuple(message.slot_loads),
            fullest_slot_index=message.fullest_slot_index,
            fullest_load=message.fullest_load,
            fullest_to_mean_ratio=message.fullest_to_mean_ratio,
            expected_load=ExpectedLoad.from_message(message.expected_load),
            empty_slot_count=message.empty_slot_count,
            chi_square=message.chi_square,
            p_value=message.p_value if message.HasField("p_value") else None,
            warnings=tuple(
                AuditWarning(AuditFinding(warning.finding), warning.message)
                for warning in message.warnings
            ),
            errors=id_errors(message.errors, 0),
        )


def audit_ids(
    schedule: AnySchedule,
    ids: Iterable[IdValue],
    weights: Iterable[int] | None,
    kind: str,
    id_type: IdType | None,
    from_time: datetime | None,
) -> Question[Audit]:
    """Ask how evenly IDs fill the slots, in one request: the statistic needs all IDs."""
    encoder, weights_left = IdEncoder(id_type), InStep("weights", weights)
    values = encoder.take(list(checked_ids(ids)))
    request = pb.AuditIdsRequest(
        schedule=schedule_message(schedule),
        ids=encoder.column(values),
        kind=checked_text("kind", kind),
        weights=[checked_weight(at, weight) for at, weight in weights_left.take(len(values))],
    )
    weights_left.end()
    if from_time is not None:
        request.from_time.CopyFrom(to_timestamp("from_time", from_time))
    return Audit.from_message((yield "AuditIds", request))
