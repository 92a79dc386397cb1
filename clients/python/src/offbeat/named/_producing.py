"""The state and the steps of a producer, independent of how steps are executed."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial

from .._settings import to_seconds
from ..errors import (
    DeadlineExceeded,
    FailedPrecondition,
    InvalidArgument,
    ResourceExhausted,
    refused,
)
from ..ids import checked_text
from ..v1 import named_spread_pb2 as pb
from ._handle import Handle, wait_of
from ._steps import Steps, patiently
from .answers import GroupState, GroupStatus

#: Size of the parts of large groups: small enough for message limits, large enough to be fast.
_PART_BYTES, _PART_JOBS = 1 << 20, 65_536

#: How many groups one call asks about, and how long it may wait, in seconds.
_ASKED_GROUPS, _WAIT = 4_096, 1.0


@dataclass
class _Owned:
    """A group that is not known to be settled."""

    group_id: str
    payloads: list[bytes]
    sha256: bytes
    #: The receipt of the spread when the group's commit was first sent.
    first_receipt: pb.Receipt | None = None
    #: The epoch in which the group was received last; ``None`` if it must be submitted.
    epoch: int | None = None
    settled_ranges: list[pb.IndexRange] = field(default_factory=list)


class Producing:
    """Groups that were submitted, until they are settled."""

    def __init__(self, handle: Handle, patience: float) -> None:
        self._handle = handle
        self._patience = patience
        self._owned: dict[str, _Owned] = {}
        self._settled: dict[str, GroupStatus] = {}

    @property
    def unsettled(self) -> list[str]:
        """The groups that are not known to be settled."""
        return list(self._owned)

    def submit(self, group_id: str, jobs: Iterable[bytes | str]) -> Steps[GroupStatus]:
        """Submit a group, and keep it until it is settled."""
        owned = self._owned.get(checked_text("group_id", group_id))
        if isinstance(jobs, (str, bytes, bytearray)):
            raise refused("jobs", jobs, "must be an iterable of jobs, and not a single one")
        payloads = [_payload(index, job) for index, job in enumerate(jobs)]
        sha256 = _sha256(payloads)
        if owned is None:
            owned = self._owned[group_id] = _Owned(group_id, payloads, sha256)
        elif owned.sha256 != sha256:
            allowed = "must have the content with which it was submitted before, or another ID"
            raise FailedPrecondition(
                f"group_id: {group_id} is refused: {allowed}",
                reason="ERROR_REASON_GROUP_DIFFERS",
                field="group_id",
                value=group_id,
                allowed=allowed,
            )
        try:
            status = yield from self._send(owned)
        except (InvalidArgument, FailedPrecondition):
            if owned.epoch is None:
                del self._owned[group_id]
            raise
        yield from self._submit_lost()
        return status

    def wait(self, timeout: float | timedelta | None) -> Steps[dict[str, GroupStatus]]:
        """Wait until all groups are settled; submit lost ones again."""
        end = None if timeout is None else time.monotonic() + to_seconds(timeout)
        while self._owned:
            left = _WAIT if end is None else end - time.monotonic()
            if left <= 0:
                message = f"{len(self._owned)} groups are not settled in time"
                raise DeadlineExceeded(message)
            asked = list(self._owned)[:_ASKED_GROUPS]
            rounds = -(-len(self._owned) // _ASKED_GROUPS)
            request = pb.WaitForGroupsRequest(
                spread_name=self._handle.name,
                group_ids=asked,
                max_wait_duration=wait_of(min(left, _WAIT) / rounds),
            )
            ask = partial(self._handle.call, "WaitForGroups", request, _WAIT)
            response = yield from patiently(self._patience, ask)
            for status in response.groups:
                self._note(status, response.epoch)
            yield from self._submit_lost()
        settled, self._settled = self._settled, {}
        return settled

    def _note(self, status: pb.GroupStatus, epoch: int) -> None:
        owned = self._owned.pop(status.group_id)
        # Received in this epoch, but unknown: it was settled so long ago that it is forgotten.
        forgotten = status.state == pb.GROUP_STATE_UNKNOWN and owned.epoch == epoch
        if status.state == pb.GROUP_STATE_SETTLED or forgotten:
            ended = GroupStatus.from_message(status)
            if forgotten:
                count = len(owned.payloads)
                ended = GroupStatus(owned.group_id, GroupState.SETTLED, count, count, 0)
            self._settled[owned.group_id] = ended
            return
        self._owned[owned.group_id] = owned  # after the groups that were not asked about
        if status.state in (pb.GROUP_STATE_RECEIVED, pb.GROUP_STATE_STORED):
            owned.settled_ranges = list(status.settled_ranges)
        else:
            owned.epoch = None

    def _submit_lost(self) -> Steps[None]:
        """Submit groups again that were received in an earlier epoch."""
        for owned in list(self._owned.values()):
            receipt = self._handle.receipt
            if receipt is None or owned.epoch != receipt.epoch:
                yield from self._send(owned)

    def _send(self, owned: _Owned) -> Steps[GroupStatus]:
        while True:
            if self._handle.receipt is None:
                yield from patiently(self._patience, self._handle.open)
            try:
                return (yield from self._send_parts(owned))
            except InvalidArgument as error:
                if not error.field.endswith("first_job_index"):
                    raise  # otherwise, the service restarted between the parts

    def _send_parts(self, owned: _Owned) -> Steps[GroupStatus]:
        response = pb.SubmitGroupsResponse()
        for part in _parts(owned):
            response = yield from patiently(self._patience, partial(self._send_part, owned, part))
        owned.epoch = response.receipt.epoch
        self._handle.receipt = response.receipt
        return GroupStatus.from_message(response.groups[0])

    def _send_part(self, owned: _Owned, part: pb.GroupPart) -> Steps[pb.SubmitGroupsResponse]:
        is_first = owned.first_receipt is None
        if part.HasField("commit"):
            if is_first:
                owned.first_receipt = self._handle.receipt
            else:
                part.commit.first_receipt.CopyFrom(owned.first_receipt)  # type: ignore[arg-type]
                del part.commit.settled_ranges[:]  # an earlier attempt may have set them
                part.commit.settled_ranges.extend(owned.settled_ranges)
        request = pb.SubmitGroupsRequest(spread_name=self._handle.name, groups=[part])
        try:
            response: pb.SubmitGroupsResponse = yield from self._handle.call(
                "SubmitGroups", request
            )
        except ResourceExhausted:
            if is_first:
                owned.first_receipt = None  # the commit was not received
            raise
        return response


def _payload(index: int, job: bytes | str) -> bytes:
    if isinstance(job, str):
        return checked_text(f"jobs[{index}]", job).encode()
    if isinstance(job, (bytes, bytearray, memoryview)):
        return bytes(job)
    raise refused(f"jobs[{index}]", job, "must be bytes, or a str, which is sent as UTF-8")


def _sha256(payloads: list[bytes]) -> bytes:
    digest = hashlib.sha256()
    for payload in payloads:
        digest.update(len(payload).to_bytes(8, "big"))
        digest.update(payload)
    return digest.digest()


def _parts(owned: _Owned) -> Iterator[pb.GroupPart]:
    part = pb.GroupPart(group_id=owned.group_id)
    size = 0
    for index, payload in enumerate(owned.payloads):
        full = size + len(payload) > _PART_BYTES or len(part.jobs) >= _PART_JOBS
        if part.jobs and full:
            yield part
            part, size = pb.GroupPart(group_id=owned.group_id, first_job_index=index), 0
        part.jobs.add(payload=payload)
        size += len(payload)
    part.commit.CopyFrom(pb.GroupCommit(job_count=len(owned.payloads), sha256=owned.sha256))
    yield part
