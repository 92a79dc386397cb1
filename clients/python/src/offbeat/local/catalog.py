"""Schedules by name, from the file that ``offbeat schedules export`` writes."""

from __future__ import annotations

import json
import logging
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from google.protobuf import json_format

from .._forks import ForkLock
from ..errors import InvalidArgument, NeedsSidecar, refused
from ..v1 import slots_pb2 as pb
from .checks import check_reference
from .limits import NAMED_SCHEDULES, REMEMBERED_SCHEDULES
from .rejections import UNKNOWN_SCHEDULE, Rejection
from .schedules import LocalSchedule, check_spec

_log = logging.getLogger("offbeat")

#: The least time between two checks whether the file has changed, in seconds.
_LOOK_SECONDS = 1.0

#: The same limit as for a response of the sidecar.
_MAX_FILE_BYTES = 64 << 20

#: How many schedules a refusal names at most.
_SHOWN = 8

_FIELD = "schedules"

Key = tuple[str, int]
#: Identifies a state of the file; ``None`` if the file does not exist.
Signature = Optional[tuple[int, int, int]]


@dataclass(frozen=True)
class _Entry:
    message: pb.ListedSchedule
    #: The schedule, or why it needs a sidecar.
    schedule: LocalSchedule | str


class Catalog:
    """The schedules of a file, which is read again when it has changed.

    A version must never change its meaning, even if it was absent from the file for a time. A file
    that changes a meaning is refused as a whole: the schedules stay as they are, and the refusal is
    logged.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Read the file; raises ``InvalidArgument`` if it cannot be used."""
        if not isinstance(path, (str, os.PathLike)):
            raise refused(_FIELD, path, "must be the path of a file of schedules")
        self._path = Path(path)
        self._lock = ForkLock()
        self._meanings: dict[Key, str] = {}
        self._signature: Signature = self._sign()
        self._entries = self._read()
        self._looked = time.monotonic()

    def get(self, name: str, version: int) -> LocalSchedule:
        """Return the schedule with a name and version."""
        entries = self._current()
        entry = entries.get((name, version))
        if entry is None:
            key = f"{name}/{version}"
            raise Rejection(UNKNOWN_SCHEDULE, "", key, _what_there_is(entries, name))
        if isinstance(entry.schedule, str):
            raise NeedsSidecar(entry.schedule)
        return entry.schedule

    def listed(self, name: str) -> list[pb.ListedSchedule]:
        """Return all schedules, or the versions of one name, in order."""
        entries = sorted(self._current().items())
        return [entry.message for key, entry in entries if not name or key[0] == name]

    def _current(self) -> dict[Key, _Entry]:
        """Return the schedules; read them again if the file has changed."""
        if time.monotonic() - self._looked >= _LOOK_SECONDS and self._lock.try_acquire():
            try:
                self._looked = time.monotonic()
                self._look()
            finally:
                self._lock.release()
        return self._entries

    def _look(self) -> None:
        signature = self._sign()
        if signature == self._signature:
            return
        self._signature = signature
        try:
            self._entries = self._read()
        except InvalidArgument as error:
            _log.error("the schedules stay as they are: %s", error)

    def _sign(self) -> Signature:
        try:
            status = os.stat(self._path)
        except OSError:
            return None
        return (status.st_mtime_ns, status.st_size, status.st_ino)

    def _read(self) -> dict[Key, _Entry]:
        entries: dict[Key, _Entry] = {}
        for index, message in enumerate(self._parse().schedules):
            try:
                entry = _checked(message)
            except Rejection as rejection:
                raise self._refused(str(rejection.under(f"schedules[{index}]").error())) from None
            reference = message.reference
            key = (reference.name, reference.version)
            if key in entries:
                raise self._refused(f"{_text(key)} is there twice")
            entries[key] = entry
        self._learn(entries)
        return entries

    def _parse(self) -> pb.ListSchedulesResponse:
        try:
            with open(self._path, "rb") as file:
                data = file.read(_MAX_FILE_BYTES + 1)
            if len(data) > _MAX_FILE_BYTES:
                raise self._refused(f"it has more than {_MAX_FILE_BYTES} bytes")
            response = json_format.ParseDict(json.loads(data), pb.ListSchedulesResponse())
        except (OSError, ValueError, RecursionError, json_format.ParseError) as error:
            if isinstance(error, InvalidArgument):
                raise
            raise self._refused(str(error)) from error
        if not NAMED_SCHEDULES.allows(len(response.schedules)):
            count = len(response.schedules)
            raise self._refused(f"it has {count} schedules, and must have {NAMED_SCHEDULES}")
        return response

    def _learn(self, entries: dict[Key, _Entry]) -> None:
        """Remember the fingerprint of each version; refuse the file if one has changed."""
        for key, entry in entries.items():
            fingerprint = entry.message.identity.fingerprint
            known = self._meanings.get(key, fingerprint)
            if known != fingerprint:
                raise self._refused(
                    f"{_text(key)} has the fingerprint {fingerprint}, and has meant {known} so "
                    "far: give what has changed another version"
                )
        meanings = {key: entry.message.identity.fingerprint for key, entry in entries.items()}
        meanings = {**self._meanings, **meanings}
        if not REMEMBERED_SCHEDULES.allows(len(meanings)):
            raise self._refused(
                f"{len(meanings)} names and versions since the start, and must be "
                f"{REMEMBERED_SCHEDULES}"
            )
        self._meanings = meanings

    def _refused(self, why: str) -> InvalidArgument:
        allowed = f"must be a file that 'offbeat schedules export' writes: {why}"
        return refused(_FIELD, str(self._path), allowed)


def _checked(message: pb.ListedSchedule) -> _Entry:
    """Check a schedule: its name, its spec, and its fingerprint where we can compute it."""
    try:
        check_reference(message.reference.name, message.reference.version)
    except Rejection as rejection:
        raise rejection.under("reference") from None
    fingerprint = message.identity.fingerprint
    if not fingerprint:
        raise Rejection("ERROR_REASON_FIELD_MISSING", "identity.fingerprint", "", "must be set")
    try:
        schedule = check_spec(message.spec)
    except NeedsSidecar as needs:
        return _Entry(message, needs.message)
    except Rejection as rejection:
        raise rejection.under("spec") from None
    if schedule.fingerprint != fingerprint:
        allowed = f"must be {schedule.fingerprint}, that of the spec"
        raise Rejection("ERROR_REASON_CONTRADICTORY", "identity.fingerprint", fingerprint, allowed)
    key = (message.reference.name, message.reference.version)
    return _Entry(message, schedule.named(_text(key)))


def _what_there_is(entries: dict[Key, _Entry], name: str) -> str:
    """List the versions of a name in words; if there is none, all schedules."""
    keys = sorted(entries)
    known = [key for key in keys if key[0] == name] or keys
    more = len(known) - _SHOWN
    shown = ", ".join(map(_text, known[:_SHOWN])) + (f" and {more} more" if more > 0 else "")
    return f"must be one that is loaded: {shown}"


def _text(key: Key) -> str:
    return f"{key[0]}/{key[1]}"
