"""Time zones by ID: one for each ID of a call; on the wire, each name once and an index by ID."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Union
from zoneinfo import ZoneInfo

from ._weights import InStep
from .errors import refused
from .ids import IdT, IdValue, checked_text
from .v1 import id_pb2 as pb

#: A time zone: its IANA name, or a ``ZoneInfo``, whose name is used.
TimeZone = Union[str, ZoneInfo]

#: One zone for each ID, in the order of the IDs, with ``None`` for the zone of the schedule; or a
#: mapping from some IDs to their zones.
TimeZones = Union[Iterable[Union[TimeZone, None]], Mapping[IdT, Union[TimeZone, None]]]

#: Stands for the zone of the schedule in a column of indexes.
_OF_SCHEDULE = -1


def zone_name(path: str, zone: TimeZone) -> str:
    """Return the name of a zone; the sidecar checks whether the zone exists."""
    if isinstance(zone, ZoneInfo):
        zone = zone.key
    if not isinstance(zone, str):  # a ZoneInfo from a file has no name
        raise refused(path, zone, "must be an IANA name such as 'Europe/Berlin', or a ZoneInfo")
    return checked_text(path, zone)


def zone_names(path: str, zones: Iterable[TimeZone]) -> list[str]:
    """Return the names of a list of zones."""
    if isinstance(zones, (str, ZoneInfo)):
        raise refused(path, zones, "must be a list of time zones, such as ['Europe/Berlin']")
    return [zone_name(f"{path}[{index}]", zone) for index, zone in enumerate(zones)]


class Zones:
    """The time zones of the IDs of one call, read batch by batch after the IDs."""

    def __init__(self, time_zones: TimeZones[Any] | None) -> None:
        """Store the zones; none is read yet."""
        if isinstance(time_zones, (str, ZoneInfo)):
            allowed = "must be one for each ID: a list of time zones, or a mapping of IDs to them"
            raise refused("time_zones", time_zones, allowed)
        self._by_id: Mapping[Any, TimeZone | None] | None = None
        if isinstance(time_zones, Mapping):
            self._by_id = time_zones
        in_turn = None if isinstance(time_zones, Mapping) else time_zones
        self._in_turn = InStep("time_zones", in_turn)
        self.end = self._in_turn.end

    def take(self, ids: Sequence[IdValue]) -> list[str | None]:
        """Return the zones of the next IDs; an empty list if no zones were given."""
        zones: Iterable[tuple[str, TimeZone | None]] = self._in_turn.take(len(ids))
        if self._by_id is not None:
            zones = [(f"time_zones[{value!r}]", self._by_id.get(value)) for value in ids]
        return [None if zone is None else zone_name(path, zone) for path, zone in zones]


def set_zones(column: pb.IdBatch, zones: list[str | None]) -> None:
    """Set the zones of a column: each name once, and for each ID the index of its zone."""
    indexes: dict[str | None, int] = {None: _OF_SCHEDULE}
    # None is the first key, so the index of a new name is one less than the size.
    numbers = [indexes.setdefault(zone, len(indexes) - 1) for zone in zones]
    if len(indexes) > 1:
        column.time_zones.extend([zone for zone in indexes if zone is not None])
        column.time_zone_indexes.extend(numbers)
