"""Description of the server."""

from __future__ import annotations

from dataclasses import dataclass

from ._questions import Question
from .v1 import server_info_pb2 as pb


@dataclass(frozen=True)
class ServerLimit:
    """A limit of the server: the allowed range of some quantity."""

    #: Identifies the limit, such as ``"named_spreads"``; it never changes.
    id: str
    #: The limited quantity, in words. The text may change, as may ``note``.
    name: str
    #: The smallest allowed value.
    min_value: int
    #: The largest allowed value.
    max_value: int
    #: The unit of both; empty for plain numbers.
    unit: str
    #: A further note, in words.
    note: str

    @classmethod
    def from_message(cls, message: pb.ServerLimit) -> ServerLimit:
        """Read it from a message."""
        return cls(**{name: getattr(message, name) for name in cls.__dataclass_fields__})


@dataclass(frozen=True)
class ServerInfo:
    """Description of the server."""

    #: Version of the server, such as ``"0.1.0"``.
    version: str
    #: Release of its built-in IANA time-zone database, such as ``"2026b"``.
    time_zone_database: str
    #: Its limits, as ``offbeat limits`` prints them. For a limit that is a flag, this is the range
    #: that the flag allows.
    limits: tuple[ServerLimit, ...]

    @classmethod
    def from_message(cls, message: pb.GetServerInfoResponse) -> ServerInfo:
        """Read it from a message."""
        limits = tuple(map(ServerLimit.from_message, message.limits))
        return cls(message.version, message.time_zone_database, limits)


def server_info() -> Question[ServerInfo]:
    """Ask for the description of the server."""
    return ServerInfo.from_message((yield "GetServerInfo", pb.GetServerInfoRequest()))
