"""Client of Offbeat, the scheduling sidecar: it says when jobs run.

A schedule cuts a repeating cycle into slots and gives each ID one slot and one
offset in it. The decision is made by the sidecar and is a pure function of the
question: every producer, in every language, gets the same answer.
"""

from ._settings import DEFAULT_ADDRESS
from .aio import AsyncClient
from .answers import (
    Assignment,
    BadIds,
    BucketShare,
    Description,
    ExpectedLoad,
    IdError,
    KindSlot,
    Reciprocals,
    Row,
    Run,
    Slot,
    SlotAssignments,
)
from .client import Client
from .errors import (
    DeadlineExceeded,
    FailedPrecondition,
    InvalidArgument,
    NotFound,
    OffbeatError,
    ResourceExhausted,
    Unavailable,
)
from .ids import IdType, IdValue
from .schedule import KindSpacing, Placement, Schedule, TwisterProfile
from .spread import (
    AsyncSpread,
    ShortagePolicy,
    Spread,
    SpreadCertificate,
    SpreadPolicy,
    SpreadTurn,
)
from .sql import (
    Predicate,
    SqlColumn,
    SqlColumnType,
    SqlDialect,
    SqlIndex,
    SqlParameterStyle,
)

__version__ = "0.1.0"

__all__ = [
    "DEFAULT_ADDRESS",
    "Assignment",
    "AsyncClient",
    "AsyncSpread",
    "BadIds",
    "BucketShare",
    "Client",
    "DeadlineExceeded",
    "Description",
    "ExpectedLoad",
    "FailedPrecondition",
    "IdError",
    "IdType",
    "IdValue",
    "InvalidArgument",
    "KindSlot",
    "KindSpacing",
    "NotFound",
    "OffbeatError",
    "Placement",
    "Predicate",
    "Reciprocals",
    "ResourceExhausted",
    "Row",
    "Run",
    "Schedule",
    "ShortagePolicy",
    "Slot",
    "SlotAssignments",
    "Spread",
    "SpreadCertificate",
    "SpreadPolicy",
    "SpreadTurn",
    "SqlColumn",
    "SqlColumnType",
    "SqlDialect",
    "SqlIndex",
    "SqlParameterStyle",
    "TwisterProfile",
    "Unavailable",
]
