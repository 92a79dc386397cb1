"""Random schedules with kinds, and the outages, intervals and clocks of their pollers.

The meaning of a schedule is implemented here again, from the documentation: when each kind of an ID
runs, and how close starts may be. Times are milliseconds since the Unix epoch.
"""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from functools import lru_cache
from zoneinfo import ZoneInfo

DAY = 86_400
EPOCH = datetime(1970, 1, 1)
ZONES = [
    "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago",
    "Africa/Cairo", "Pacific/Auckland", "Asia/Kolkata",
]  # fmt: skip


def at_millis(millis: int) -> str:
    return (EPOCH + timedelta(milliseconds=millis)).isoformat(timespec="milliseconds") + "Z"


def from_json(text: str) -> int:
    instant = datetime.fromisoformat(text.replace("Z", "+00:00"))
    return (instant - EPOCH.replace(tzinfo=timezone.utc)) // timedelta(milliseconds=1)


def duration(millis: int) -> str:
    return f"{millis // 1_000}.{millis % 1_000:03}s"


def millis_of(text: str) -> int:
    return round(float(text.removesuffix("s")) * 1_000)


@dataclass
class Exclusion:
    """Seconds that are skipped: dated, or of each day of a time zone."""

    start: int
    end: int
    zone: str = ""

    def holds(self, instant: int) -> bool:
        second = instant // 1_000
        if self.zone:
            second = wall_clock(self.zone, second) % DAY
        return self.start <= second < self.end

    def json(self) -> dict:
        policy = {"policy": "EXCLUSION_POLICY_SKIP"}
        if not self.zone:
            start, end = at_millis(self.start * 1_000), at_millis(self.end * 1_000)
            return {"dated": {"startTime": start, "endTime": end}, **policy}
        window = {"startOffset": f"{self.start}s", "endOffset": f"{self.end}s"}
        calendar = {"unit": "CALENDAR_UNIT_DAY", "timeZone": self.zone}
        return {"recurring": {"calendar": calendar, "window": window}, **policy}


def wall_clock(zone: str, second: int) -> int:
    """The time that the clock shows, as seconds since it showed 1970."""
    shown = datetime.fromtimestamp(second, ZoneInfo(zone)).replace(tzinfo=None)
    return (shown - EPOCH) // timedelta(seconds=1)


@lru_cache(1 << 16)
def instant_of(zone: str, wall: int) -> int:
    """A time that occurs twice means the first; a skipped time moves forward by the gap."""
    shown = (EPOCH + timedelta(seconds=wall)).replace(tzinfo=ZoneInfo(zone), fold=0)
    return int(shown.timestamp()) * 1_000


@dataclass
class Schedule:
    """A schedule with kinds. `zone` for days by the wall clock, else `cycle` seconds."""

    slots: int
    cycle: int
    names: list[str]
    zone: str = ""
    salt: str = ""
    spacing: str = "EVEN"
    run_times: list[int] = field(default_factory=list)
    pairs: list[tuple[int, int]] = field(default_factory=list)
    windows: list[tuple[int, int]] = field(default_factory=list)
    exclusions: list[Exclusion] = field(default_factory=list)
    span: int = 0
    places: list[int] = field(default_factory=list)

    def spec(self) -> dict:
        spec: dict = {"slotCount": self.slots, "salt": self.salt}
        if self.zone:
            spec["calendar"] = {"unit": "CALENDAR_UNIT_DAY", "timeZone": self.zone}
        else:
            spec["period"] = f"{self.cycle}s"
        if self.windows:
            spec["activeWindows"] = [
                {"startOffset": f"{start}s", "endOffset": f"{end}s"} for start, end in self.windows
            ]
        if self.exclusions:
            spec["exclusions"] = [one.json() for one in self.exclusions]
        spec["kinds"] = [{"name": name} for name in self.names]
        for kind, time in zip(spec["kinds"], self.run_times):
            kind["runTime"] = duration(time)
        if self.spacing != "EVEN":
            spec["kindSpacing"] = f"KIND_SPACING_{self.spacing}"
        if self.pairs:
            spec["kindConflicts"] = [
                {"firstKind": self.names[a], "secondKind": self.names[b]} for a, b in self.pairs
            ]
        if self.span:
            spec["catchUpSpan"] = duration(self.span)
        return spec

    # --- places of kinds

    @property
    def ticks(self) -> int:
        """Seconds of a cycle in which runs start."""
        return sum(end - start for start, end in self.windows) or self.cycle

    def own_places(self) -> list[int] | None:
        """Slots from kind 0 to each kind; None with conflicts, whose places are searched."""
        count = len(self.names)
        if self.pairs:
            return None
        if self.run_times:
            length = self.ticks // self.slots * 1_000
            needs = [max(1, -(-time // length)) for time in self.run_times]
            slack = self.slots - sum(needs)
            return [sum(needs[:kind]) + kind * slack // count for kind in range(count)]
        if self.spacing == "STABLE":
            reverse = [int(format(kind, "08b")[::-1], 2) for kind in range(count)]
            return [self.slots * value // 256 for value in reverse]
        return [kind * self.slots // count for kind in range(count)]

    def must_not_meet(self, one: int, other: int) -> bool:
        return not self.pairs or tuple(sorted((one, other))) in self.pairs

    def gap(self, kind: int) -> int:
        """Slots to the next kind that it must not meet."""
        others = [other for other in range(len(self.names)) if other != kind]
        others = [other for other in others if self.must_not_meet(kind, other)]
        ways = [(self.places[other] - self.places[kind]) % self.slots for other in others]
        return min(ways, default=self.slots)

    def shortest_gap(self) -> int:
        """The shortest gap in seconds if places are known; with conflicts it is longer."""
        places = sorted(self.own_places() or [])
        if not places:
            places = [kind * self.slots // len(self.names) for kind in range(len(self.names))]
        ways = [b - a for a, b in zip(places, [*places[1:], self.slots])]
        return min(ways) * (self.ticks // self.slots) - max(self.run_times, default=0) // 1_000

    # --- regular runs

    def runs(self, text: str, kind: int, start: int, end: int) -> dict[int, int]:
        """The regular runs in [start, end) by cycle, including skipped ones."""
        hashed = int.from_bytes(hashlib.md5((self.salt + text).encode()).digest()[:8], "big")
        tick = hashed * self.ticks >> 64
        tick = (tick + self.places[kind] * (self.ticks // self.slots)) % self.ticks
        wall = tick
        for opened, closed in self.windows:
            if tick < closed - opened:
                wall = opened + tick
                break
            tick -= closed - opened
        cycles = range(start // (self.cycle * 1_000) - 2, end // (self.cycle * 1_000) + 3)
        found = {}
        for cycle in cycles:
            shown = cycle * self.cycle + wall
            at = instant_of(self.zone, shown) if self.zone else shown * 1_000
            if start <= at < end:
                found[cycle] = at
        return found

    def is_skipped(self, instant: int) -> bool:
        return any(one.holds(instant) for one in self.exclusions)

    # --- promises

    @property
    def turn(self) -> int:
        """The usable time of a turn, in milliseconds."""
        ticks = self.ticks
        wanted = -(-ticks * 1_000 // self.span)
        count = next(one for one in range(wanted, ticks + 1) if ticks % one == 0)
        return ticks * 1_000 // count

    @property
    def share(self) -> int:
        """The smallest gap in a turn."""
        return self.turn * min(map(self.gap, range(len(self.names)))) // self.slots

    def lead(self, kind: int) -> int:
        """The time kept free after a run: its run time, or half of the smallest gap in a turn."""
        return self.run_times[kind] if self.run_times else self.share // 2

    def clock_changes_near(self, instant: int) -> bool:
        if not self.zone:
            return False
        hours = [instant // 1_000 + days * DAY for days in (-1, 0, 1)]
        return len({wall_clock(self.zone, second) - second for second in hours}) > 1


@dataclass
class World:
    """A schedule and its pollers."""

    schedule: Schedule
    texts: list[str]
    begin: int
    end: int
    policy: str
    tolerance: int = 0
    horizon: int = 0
    min_gap: int = 0
    look_ahead: int = 0
    skew: int = 0
    #: The tolerance as a share of the longest allowed one; 0 is a tolerance below the longest run.
    lateness: float = 0


def some_windows(rng: random.Random, cycle: int) -> list[tuple[int, int]]:
    part = cycle // 16
    return rng.choice(
        [
            [(2 * part, 10 * part)],
            [(0, 4 * part), (8 * part, 12 * part)],
            [(part, 5 * part), (14 * part, 16 * part)],
        ]
    )


def a_schedule(rng: random.Random) -> Schedule:
    """A random valid schedule, whose kinds fit."""
    names = ["import", "export", "mail", "d", "e"][: rng.choice([2, 2, 3, 3, 4, 5])]
    zone = rng.choice(["", rng.choice(ZONES)])
    cycle = DAY if zone else rng.choice([8 * 3_600, DAY, 57_600, 16 * 3_700])
    windows = some_windows(rng, cycle) if rng.random() < 0.35 else []
    ticks = sum(end - start for start, end in windows) or cycle
    slots = rng.choice([n for n in range(2 * len(names), 129) if ticks % n == 0])
    schedule = Schedule(slots, cycle, names, zone, windows=windows, salt=rng.choice(["", "v2"]))
    way = rng.random()
    if way < 0.2:
        schedule.spacing = "STABLE"
    elif way < 0.4:
        # Short enough for the longest possible turn.
        most = ticks * 1_000 // (8 * len(names) ** 2)
        schedule.run_times = [rng.choice([0, rng.randrange(most)]) for _ in names]
    elif way < 0.55 and len(names) > 2:
        ring = [(kind, kind + 1) for kind in range(len(names) - 1)]
        schedule.pairs = rng.sample(ring, rng.randrange(1, len(ring) + 1))
    if zone and schedule.shortest_gap() < 90 * 60:
        # A change of the clocks could make them meet, so the schedule would be refused.
        schedule.names, schedule.spacing = names[:2], "EVEN"
        schedule.run_times, schedule.pairs = [], []
    if not schedule.run_times and rng.random() < 0.4:
        names = schedule.names
        longest = ticks * 1_000 // (2 * len(names))
        schedule.span = rng.randrange(longest // rng.choice([2, 6, 20]), longest + 1)
    return schedule


def with_exclusions(rng: random.Random, schedule: Schedule, begin: int) -> None:
    for _ in range(rng.choice([0, 0, 1, 2])):
        size = rng.randrange(60, schedule.cycle // 4)
        if rng.random() < 0.5:
            start = begin // 1_000 + rng.randrange(6 * schedule.cycle)
            schedule.exclusions.append(Exclusion(start, start + size))
        else:
            start = rng.randrange(DAY - size)
            zone = schedule.zone or rng.choice(ZONES)
            schedule.exclusions.append(Exclusion(start, start + size, zone))


def a_world(rng: random.Random) -> World:
    schedule = a_schedule(rng)
    begin = rng.randrange(1_577_836_800, 2_000_000_000) * 1_000
    if schedule.zone:  # mostly over a change of the clocks
        for _ in range(60):
            if not schedule.clock_changes_near(begin + rng.randrange(2, 5) * DAY * 1_000):
                begin += 5 * DAY * 1_000
    with_exclusions(rng, schedule, begin)
    whole = schedule.cycle * 1_000
    world = World(
        schedule,
        [f"user-{rng.randrange(10**6)}" for _ in range(6)],
        begin,
        begin + 6 * whole,
        rng.choice(["RUN_ONCE", "RUN_ONCE", "RUN_ALL", "DROP"]),
    )
    world.min_gap = rng.choice([0, 0, rng.randrange(whole // 4)])
    world.look_ahead = rng.choice([0, 0, rng.randrange(whole // 4), rng.randrange(whole)])
    world.skew = rng.choice([0, rng.randrange(whole // 4)])
    world.horizon = rng.choice([1, 4]) * whole
    return world


def a_world_of_unequal_kinds(rng: random.Random) -> World:
    """One kind runs about as long as a turn allows, the others run briefly or not at all. The
    tolerance is about the longest allowed one, or below the longest run."""
    zone = rng.choice(["", "", rng.choice(ZONES)])
    cycle = DAY if zone else rng.choice([8 * 3_600, DAY])
    names = ["import", "export", "mail"][: rng.choice([2, 2, 3])]
    # The longest run time that fits into a turn.
    longest = cycle * 1_000 // (8 if len(names) == 2 else 20)
    times = [rng.randrange(longest // 2, longest)]
    times += [rng.choice([0, rng.randrange(longest // 8)]) for _ in names[1:]]
    rng.shuffle(times)
    schedule = Schedule(96, cycle, names, zone, salt=rng.choice(["", "v2"]), run_times=times)
    begin = rng.randrange(1_577_836_800, 2_000_000_000) * 1_000
    texts = [f"user-{rng.randrange(10**6)}" for _ in range(16)]
    policy = rng.choice(["RUN_ONCE", "RUN_ALL", "RUN_ALL"])
    world = World(schedule, texts, begin, begin + 6 * cycle * 1_000, policy)
    world.lateness = rng.choice([rng.uniform(0.9, 1), 0, 0])
    world.horizon = 4 * cycle * 1_000
    return world
