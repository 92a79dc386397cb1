"""Golden answers about the SQL that selects the IDs of a kind, in a window or in each slot.

The statements are those of decisions_in_sql.py.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from calendars import DAY
from decisions import Spec
from decisions_in_sql import column, condition, hash_bounds, index_name, indexed
from declared_kinds import Elapsed, three, two
from weighted_schedules import AT, at_millis, since_epoch


def predicate_cases():
    """A kind's IDs in a window are those of kind 0 in a window earlier by the kind's offset."""
    expression = "`hash`"
    name = index_name("hash", "account", expression)
    index = indexed(name, f"CREATE INDEX IF NOT EXISTS `{name}` ON `account` ({expression})")
    hashed = column("SQLITE", "HASH_DIGITS", column="hash")
    midnight = datetime(2026, 1, 1, tzinfo=AT.tzinfo)
    for kinds in [two(), three(), three(spacing="STABLE")]:
        spec = Elapsed(kinds, DAY * 1_000, 24)
        plain = Spec(DAY * 1_000, 24)
        for kind, kind_name in enumerate(kinds.names):
            ahead = kinds.places[kind] * spec.slot // 1_000
            for start, length in [(100, 60), (DAY - 30, 60), (ahead, 3_600), (ahead - 60, 120)]:
                ranges = []
                for low, high in split(start % DAY, start % DAY + length):
                    ranges += sorted(split((low - ahead) % DAY, (low - ahead) % DAY + high - low))
                if len(ranges) == 2 and ranges[0][1] == ranges[1][0]:
                    ranges = [(ranges[0][0], ranges[1][1])]
                parts = [
                    condition(expression, hash_bounds(plain, *one), lambda bound: f"'{bound}'")
                    for one in ranges
                ]
                sql = parts[0] if len(parts) == 1 else " OR ".join(f"({part})" for part in parts)
                yield {
                    "method": "GetWindowPredicate",
                    "request": {
                        "schedule": spec.json(),
                        "startTime": at_millis(since_epoch(midnight) + start * 1_000),
                        "endTime": at_millis(since_epoch(midnight) + (start + length) * 1_000),
                        "sqlTarget": hashed,
                        "kind": kind_name,
                    },
                    "response": {
                        "identity": spec.identity,
                        "predicate": {"sql": f"({sql})"},
                        "sqlIndex": index,
                    },
                }
            yield slots_case(spec, plain, kind, hashed, expression, index)


def split(low, high):
    """A span of seconds, cut at the end of the day."""
    return [(low, high)] if high <= DAY else [(low, DAY), (0, high - DAY)]


def slots_case(spec, plain, kind, hashed, expression, index):
    """All slots of a cycle, each with the predicate of the kind's rows."""
    slots = []
    first = (AT - spec.anchor) // timedelta(milliseconds=spec.slot)
    for number in range(first, first + spec.slots):
        own = (number - spec.kinds.places[kind]) % spec.slots
        edges = (own * spec.slot // 1_000, (own + 1) * spec.slot // 1_000)
        text = condition(expression, hash_bounds(plain, *edges), lambda bound: f"'{bound}'")
        slots.append(
            {
                "slotIndex": number % spec.slots,
                "cycleIndex": str(number // spec.slots),
                "startTime": at_millis(number * spec.slot),
                "endTime": at_millis((number + 1) * spec.slot),
                "predicate": {"sql": f"({text})"},
            }
        )
    return {
        "method": "ListSlots",
        "request": {
            "schedule": spec.json(),
            "startTime": at_millis(first * spec.slot),
            "sqlTarget": hashed,
            "kind": spec.kinds.names[kind],
        },
        "response": {"identity": spec.identity, "slots": slots, "sqlIndex": index},
    }
