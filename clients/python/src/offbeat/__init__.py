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
from .named import (
    AsyncConsumer,
    AsyncNamedSpread,
    AsyncProducer,
    Consumer,
    DeadLetter,
    DeadLetterCause,
    GroupState,
    GroupStatus,
    LeasedJob,
    NamedSpread,
    NamedSpreadSpec,
    Producer,
    Settlement,
    SpreadDescription,
    SpreadState,
    Verdict,
)
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
    "AsyncConsumer",
    "AsyncNamedSpread",
    "AsyncProducer",
    "AsyncSpread",
    "BadIds",
    "BucketShare",
    "Client",
    "Consumer",
    "DeadLetter",
    "DeadLetterCause",
    "DeadlineExceeded",
    "Description",
    "ExpectedLoad",
    "FailedPrecondition",
    "GroupState",
    "GroupStatus",
    "IdError",
    "IdType",
    "IdValue",
    "InvalidArgument",
    "KindSlot",
    "KindSpacing",
    "LeasedJob",
    "NamedSpread",
    "NamedSpreadSpec",
    "NotFound",
    "OffbeatError",
    "Placement",
    "Predicate",
    "Producer",
    "Reciprocals",
    "ResourceExhausted",
    "Row",
    "Run",
    "Schedule",
    "Settlement",
    "ShortagePolicy",
    "Slot",
    "SlotAssignments",
    "Spread",
    "SpreadCertificate",
    "SpreadDescription",
    "SpreadPolicy",
    "SpreadState",
    "SpreadTurn",
    "SqlColumn",
    "SqlColumnType",
    "SqlDialect",
    "SqlIndex",
    "SqlParameterStyle",
    "TwisterProfile",
    "Unavailable",
    "Verdict",
]
