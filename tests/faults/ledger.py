"""The events of producers and consumers, and the promises that they violate."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

#: The most milliseconds between the times that two processes record for one moment.
SLACK_MS = 5


@dataclass
class Lease:
    """A lease, as its consumer reported it."""

    consumer: str
    #: The server's key of the lease: epoch, sequence and attempt.
    id: tuple[str, int, int]
    begin: float
    until: float
    acked: float | None = None
    outcome: str | None = None
    #: When the outcome was reported.
    answered: float = 0

    @property
    def end(self) -> float:
        """When the consumer's work on the job ended."""
        return self.until if self.acked is None else min(self.until, self.acked)


@dataclass
class Ledger:
    """Events of all processes, and the times of disturbances."""

    submitted: dict[str, int] = field(default_factory=dict)
    settled: dict[str, float] = field(default_factory=dict)
    leases: dict[tuple[str, int], list[Lease]] = field(default_factory=lambda: defaultdict(list))
    #: Start and end of each disturbance.
    disturbances: list[tuple[float, float]] = field(default_factory=list)
    dead_letters: int = 0

    def note(self, event: dict, heard: float) -> None:
        """Record an event, which was read at the time ``heard``."""
        kind = event["event"]
        if kind == "submitting":
            self.submitted[event["group"]] = event["jobs"]
        elif kind == "settled":
            self.settled[event["group"]] = heard
            self.dead_letters += event["dead_letters"]
        elif kind == "begin":
            job = (event["group"], event["job_index"])
            expected = f"{event['group']}/{event['job_index']}"
            if event["payload"] != expected:
                raise AssertionError(f"{expected} came with {event['payload']!r}")
            lease = Lease(event["consumer"], self._id(event), event["time"], event["until"])
            self.leases[job].append(lease)
        elif kind in ("ack", "outcome"):
            lease = self._lease(event)
            if kind == "ack":
                if lease is None:
                    raise AssertionError(f"an ack of a job that was never leased: {event}")
                lease.acked = event["time"]
            elif lease is not None and lease.acked is not None and lease.outcome is None:
                lease.outcome, lease.answered = event["outcome"], event["time"]
            # Otherwise the consumer released a job that it had not begun.

    @staticmethod
    def _id(event: dict) -> tuple[str, int, int]:
        return event["epoch"], int(event["sequence"]), int(event["attempt"])

    def _lease(self, event: dict) -> Lease | None:
        for lease in reversed(self.leases[event["group"], event["job_index"]]):
            if (lease.consumer, lease.id) == (event["consumer"], self._id(event)):
                return lease
        return None

    def jobs(self) -> list[tuple[str, int]]:
        """Every job that was submitted."""
        return [(group, index) for group, count in self.submitted.items() for index in range(count)]

    def lost(self) -> list[str]:
        """Jobs that were never finished, and groups whose producers did not see them settled."""
        groups = [f"{group}: not settled" for group in self.submitted if group not in self.settled]
        done = {job for job, leases in self.leases.items() if any(map(self._done, leases))}
        undone = [job for job in self.jobs() if job not in done]
        return groups + [f"{job}: not done: {self.leases.get(job, [])}" for job in undone]

    def _is_disturbed(self, begin: float, end: float) -> bool:
        return any(first <= end and begin <= last for first, last in self.disturbances)

    def _done(self, lease: Lease) -> bool:
        if lease.acked is None or lease.outcome not in (None, "ACKED", "STALE"):
            return False
        # An answer may have been lost with the server. A retry reaches the next server, which does
        # not know the lease; only the producer knows whether the first server had settled the job.
        return lease.outcome != "STALE" or self._is_disturbed(lease.acked, lease.answered)

    def overlapping(self) -> list[str]:
        """Jobs that two consumers held at the same time."""
        found = []
        for job, leases in self.leases.items():
            in_order = sorted(leases, key=lambda lease: lease.begin)
            for earlier, later in zip(in_order, in_order[1:]):
                if later.begin < earlier.end - SLACK_MS:
                    found.append(f"{job}: {earlier} and {later}")
        return found

    def settled_twice(self) -> list[str]:
        """Jobs that were settled twice without a disturbance that explains it."""
        found = []
        for job, leases in self.leases.items():
            settled = sorted(
                (lease for lease in leases if lease.outcome == "ACKED"),
                key=lambda lease: lease.begin,
            )
            for earlier, later in zip(settled, settled[1:]):
                # The first settlement was lost before its producer knew of it.
                explained = self._is_disturbed(earlier.begin, later.begin)
                if earlier.id[0] == later.id[0] or not explained:
                    found.append(f"{job}: {earlier} and {later}")
        return found

    def duplicates(self) -> int:
        """The number of repeated settlements."""
        counts = [
            sum(lease.outcome == "ACKED" for lease in leases) for leases in self.leases.values()
        ]
        return sum(count - 1 for count in counts if count > 1)

    def outstanding(self) -> int:
        """Jobs that were leased or in unsettled groups at the times of disturbances."""
        return sum(
            any(lease.begin <= end for lease in leases)
            and begin < self.settled.get(job[0], float("inf"))
            for begin, end in self.disturbances
            for job, leases in self.leases.items()
        )

    def surplus(self) -> list[str]:
        """Repeated settlements beyond those that disturbances can explain."""
        duplicates, outstanding = self.duplicates(), self.outstanding()
        if duplicates <= outstanding:
            return []
        return [f"{duplicates} duplicates, and only {outstanding} jobs were outstanding"]
