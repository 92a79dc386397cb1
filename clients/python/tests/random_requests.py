"""Random requests about slots, runs, predicates and lanes; most of them are valid."""

from __future__ import annotations

import random
from typing import Any

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from offbeat.v1 import due_runs_pb2 as due_pb
from offbeat.v1 import id_pb2 as id_pb
from offbeat.v1 import lanes_pb2 as lanes_pb
from offbeat.v1 import schedule_pb2 as schedule_pb
from offbeat.v1 import slots_pb2 as pb
from offbeat.v1 import sql_pb2 as sql_pb

#: From 0001-01-01 to 10000-01-01, in seconds since the Unix epoch.
FIRST, BEHIND = -62_135_596_800, 253_402_300_800

TEXTS = ["", "acme", "a/b c", "é ‖ \U0001f600", 'it\'s "5%" $1 \\ ? :x', "\0\n\t\x7f\x85", "x" * 90]
NAMES = ["import", "export", "a.b", "c_d-e", "X1"]


class Requests:
    """Draws requests from a seed."""

    def __init__(self, seed: str) -> None:
        self.rng = random.Random(seed)

    def request(self) -> tuple[str, Any]:
        """Return a method and a request."""
        makers = [
            self.assign_slot,
            self.assign_slots,
            self.describe,
            self.list_slots,
            self.window,
            self.due_runs,
            self.late_runs,
            self.route,
        ]
        return self.rng.choice(makers)()

    def rarely(self, share: float = 0.03) -> bool:
        return self.rng.random() < share

    def millis(self, span: Any) -> Any:
        """Return a duration or a timestamp, given in milliseconds, as a message."""
        message, millis = span
        nanos = millis % 1_000 * 1_000_000
        if self.rarely(0.004):
            nanos += self.rng.choice([1, 500_000])
        return message(seconds=millis // 1_000, nanos=nanos)

    def moment(self) -> Timestamp:
        rng = self.rng
        if self.rarely():
            near = rng.choice([FIRST, BEHIND]) + rng.randrange(-100_000, 100_000)
            return Timestamp(seconds=near, nanos=rng.choice([0, 999_999_999]))
        return self.millis((Timestamp, rng.randrange(-(10**12), 4 * 10**12)))

    def maybe_bad_count(self, good: int) -> int:
        return self.rng.choice([0, -1, 7, 1 << 21, good + 1]) if self.rarely() else good

    def schedule(self, kinds_share: float = 0.4) -> tuple[schedule_pb.Schedule, int]:
        """Return a schedule, and the length of its cycle in milliseconds."""
        rng = self.rng
        spec = schedule_pb.ScheduleSpec()
        tick = 1_000
        if rng.random() < 0.5:
            tick = rng.choice([1, 2, 4, 5, 8, 10, 20, 50, 100, 125, 200, 250, 500, 1_000])
            spec.resolution.CopyFrom(self.millis((Duration, tick)))
        ticks = rng.choice([1, 2, 3, 5, 7, 60, 96, 128, 900, 28_800, 86_400, 97, 5_040])
        ticks *= rng.choice([1, 1, 2, 7, 24])
        has_kinds = rng.random() < kinds_share
        ticks *= rng.choice([1, 96, 240, 5_040]) if has_kinds else 1
        ticks = rng.randrange(1, 10**9) if self.rarely(0.1) else ticks
        period = ticks * tick
        spec.period.CopyFrom(self.millis((Duration, period)))
        if rng.random() < 0.6 or (period % 1_000 and not self.rarely()):
            divisors = [count for count in range(1, 300) if ticks % count == 0]
            good = rng.choice(divisors[-3:] if has_kinds else divisors)
            spec.slot_count = self.maybe_bad_count(good)
        if rng.random() < 0.4:
            anchor = rng.randrange(-(10**9), 10**9) * tick
            spec.anchor_time.CopyFrom(self.millis((Timestamp, anchor)))
        spec.placement = rng.choices([0, 1, 2, 3, 9], [40, 20, 18, 20, 1])[0]
        if spec.placement < 2:
            spec.salt = rng.choice([*TEXTS, "é" * 129 if self.rarely(0.2) else "salt"])
        if spec.placement == 2 or self.rarely(0.01):
            spec.profile = rng.choices([3, 0, 1, 4, 9], [90, 3, 3, 3, 1])[0]
            if rng.random() < 0.3:
                spec.bucket_count = rng.choice([256, 65_536, 65_536, 255])
        if has_kinds:
            self.add_kinds(spec, period)
        if self.rarely(0.02):
            spec.catch_up_span.CopyFrom(self.millis((Duration, period // 9)))
        return schedule_pb.Schedule(spec=spec), period

    def add_kinds(self, spec: schedule_pb.ScheduleSpec, period: int) -> None:
        rng = self.rng
        count = rng.choice([1, 2, 2, 3, 3, 4, 5, rng.randrange(1, 30)])
        names = [*NAMES, *(f"kind-{number}" for number in range(count))][:count]
        for name in names:
            spec.kinds.add().name = "no/name" if self.rarely(0.005) else name
        if rng.random() < 0.3:
            spec.kind_spacing = rng.choice([0, 1, 2, 2, 3 if self.rarely() else 1])
        if rng.random() < (0.05 if spec.kind_spacing == 2 else 0.4):
            for kind in spec.kinds:
                most = period // count // rng.choice([2, 3, 8]) + 1
                kind.run_time.CopyFrom(self.millis((Duration, rng.randrange(most))))
            if self.rarely():
                spec.kinds[-1].ClearField("run_time")
        if rng.random() < 0.3:
            span = period // (2 * count) // rng.choice([1, 1, 2, 3, 10])
            spec.catch_up_span.CopyFrom(self.millis((Duration, span)))

    def kind(self, schedule: schedule_pb.Schedule) -> str:
        if self.rarely():
            return self.rng.choice(["", "other", "x" * 65, "a b"])
        if schedule.spec.kinds:
            return str(self.rng.choice(schedule.spec.kinds).name)
        return self.rng.choice(["", "sync"])

    def uuid(self) -> str:
        rng = self.rng
        digits = f"{rng.getrandbits(128):032x}"
        hyphenated = "-".join([digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]])
        bad = hyphenated[:-1] + rng.choice(["", "g", "\n", '"'])
        return rng.choice(
            [digits, hyphenated, hyphenated.upper(), bad if self.rarely(0.1) else digits]
        )

    def integer(self) -> int:
        return self.rng.choice([-1, 1]) * self.rng.getrandbits(self.rng.choice([1, 8, 32, 33, 63]))

    def decimal(self) -> str:
        bad = self.rng.choice(["-0", "007", "+5", "", "1 ", "9" * 40, str(1 << 128), "٣"])
        number = self.rng.choice([-1, 1]) * self.rng.getrandbits(self.rng.choice([1, 64, 65, 128]))
        return bad if self.rarely(0.1) else str(number)

    def text(self) -> str:
        if self.rarely(0.02):
            return "é" * 513
        return self.rng.choice([*TEXTS, f"customer-{self.rng.randrange(10**6)}"])

    def fraction(self) -> float:
        bad = self.rng.choice(
            [1.0, -0.5, float("nan"), float("inf"), 1e300, -1e-7, 123456.75, 1e16]
        )
        return bad if self.rarely(0.1) else self.rng.choice([0.0, -0.0, 5e-324, self.rng.random()])

    def id(self, placement: int) -> id_pb.Id:
        rng = self.rng
        if placement == 3 and not self.rarely():
            return id_pb.Id(fraction=self.fraction())
        if (placement != 2 and rng.random() < 0.4) or self.rarely():
            return id_pb.Id(text=self.text())
        return rng.choice(
            [
                id_pb.Id(uuid=self.uuid()),
                id_pb.Id(uuid_bytes=rng.getrandbits(128).to_bytes(16, "big")),
                id_pb.Id(integer=self.integer()),
                id_pb.Id(decimal=self.decimal()),
                id_pb.Id(uuid_bytes=b"short") if self.rarely(0.1) else id_pb.Id(integer=1),
                id_pb.Id() if self.rarely(0.1) else id_pb.Id(integer=-1),
            ]
        )

    def ids(self, placement: int) -> id_pb.IdBatch:
        rng, count = self.rng, self.rng.randrange(1, 12)
        batch = id_pb.IdBatch()
        if self.rarely(0.01):
            batch.texts.append("another type")
        if self.rarely(0.01):
            return batch
        if placement == 3 and not self.rarely():
            batch.fractions.extend(self.fraction() for _ in range(count))
            return batch
        which = rng.choice(["packed", "uuids", "integers", "decimals", "texts"])
        if which == "packed":
            length = 16 * count + (5 if self.rarely() else 0)
            batch.packed_uuids = bytes(rng.getrandbits(8) for _ in range(length))
        elif which == "uuids":
            batch.uuids.extend(self.uuid() for _ in range(count))
        elif which == "integers":
            batch.integers.extend(self.integer() for _ in range(count))
        elif which == "decimals":
            batch.decimals.extend(self.decimal() for _ in range(count))
        else:
            batch.texts.extend(self.text() for _ in range(count))
        return batch

    def assign_slot(self) -> tuple[str, Any]:
        schedule, _ = self.schedule()
        request = pb.AssignSlotRequest(schedule=schedule, id=self.id(schedule.spec.placement))
        request.kind = self.kind(schedule)
        request.from_time.CopyFrom(self.moment())
        if self.rng.random() < 0.5:
            request.next_run_count = self.maybe_bad_count(self.rng.choice([0, 1, 2, 5]))
        if self.rarely():
            request.weight = 5
        if self.rarely(0.01):
            request.time_zone = "Europe/Berlin"
        return "AssignSlot", request

    def assign_slots(self) -> tuple[str, Any]:
        schedule, _ = self.schedule()
        request = pb.AssignSlotsRequest(schedule=schedule, ids=self.ids(schedule.spec.placement))
        request.kind = self.kind(schedule)
        request.from_time.CopyFrom(self.moment())
        names = [
            "slot_indexes",
            "slot_offset_ticks",
            "cycle_offset_ticks",
            "cycle_indexes",
            "next_run_unix_millis",
            "last_run_unix_millis",
        ]
        if self.rng.random() < 0.5:
            request.read_mask.paths.extend(self.rng.sample(names, self.rng.randrange(7)))
        if self.rarely():
            request.read_mask.paths.append("*")
        if self.rarely():
            request.weights.extend([1] * self.rng.randrange(1, 12))
        return "AssignSlots", request

    def describe(self) -> tuple[str, Any]:
        request = pb.DescribeScheduleRequest(schedule=self.schedule(0.6)[0], at_time=self.moment())
        return "DescribeSchedule", request

    def sql_target(self) -> sql_pb.SqlTarget:
        rng = self.rng
        target = sql_pb.SqlTarget(
            dialect=rng.choice([1, 1, 2, 3, 4]),
            table=rng.choice(["account", 'a"`b', "x" * 257 if self.rarely() else "t%"]),
            column=rng.choice(["id", "a%b", "", "\0"] if self.rarely() else ["id", "a%b"]),
            column_type=rng.choice([1, 2, 3, 4, 5, 6, 7, 8, 9]),
            parameter_style=rng.choice([0, 1, 2, 3, 4, 5]),
            schema=rng.choice(["", "s"]),
            table_alias=rng.choice(["", "t"]),
        )
        if target.dialect == 4 and not self.rarely():
            target.column_type = 9
        if self.rarely():
            target.dialect = target.column_type = rng.choice([0, 77])
        if target.parameter_style > 3 or self.rarely():
            target.first_parameter_number = rng.choice([1, 7, 65_000, 65_001, 0])
        if self.rarely(0.02):
            target.time_zone_column = "zone"
        return target

    def list_slots(self) -> tuple[str, Any]:
        schedule, period = self.schedule()
        request = pb.ListSlotsRequest(schedule=schedule, start_time=self.moment())
        if self.rng.random() < 0.5:
            request.sql_target.CopyFrom(self.sql_target())
            request.kind = self.kind(schedule)
        if self.rng.random() < 0.7:
            start = request.start_time.seconds * 1_000 + request.start_time.nanos // 10**6
            later = self.rng.randrange(-5, 2 * period + 5)
            request.end_time.CopyFrom(self.millis((Timestamp, start + later)))
        return "ListSlots", request

    def window(self) -> tuple[str, Any]:
        schedule, period = self.schedule()
        request = pb.GetWindowPredicateRequest(schedule=schedule, start_time=self.moment())
        request.sql_target.CopyFrom(self.sql_target())
        request.kind = self.kind(schedule)
        if not self.rarely(0.01):
            start = request.start_time.seconds * 1_000 + request.start_time.nanos // 10**6
            later = self.rng.choice([0, period, self.rng.randrange(-5, period + 50)])
            request.end_time.CopyFrom(self.millis((Timestamp, start + later)))
        return "GetWindowPredicate", request

    def due_runs(self) -> tuple[str, Any]:
        rng = self.rng
        schedule, period = self.schedule(0.6)
        request = due_pb.ListDueRunsRequest(
            schedule=schedule, ids=self.ids(schedule.spec.placement), kind=self.kind(schedule)
        )
        request.now_time.CopyFrom(self.moment())
        now = request.now_time.seconds * 1_000 + request.now_time.nanos // 10**6

        def watermark() -> int:
            ahead = rng.randrange(100_000) if self.rarely() else 0
            return now + ahead - rng.randrange(rng.choice([1, period, 5 * period]) + 1)

        if not self.rarely():
            request.watermark_time.CopyFrom(self.millis((Timestamp, watermark())))
        if rng.random() < 0.2:
            size = len(request.ids.packed_uuids) // 16 + sum(
                len(getattr(request.ids, name))
                for name in ("uuids", "integers", "decimals", "texts", "fractions")
            )
            request.watermark_unix_millis.extend(watermark() for _ in range(size))
            if not self.rarely(0.1):
                request.ClearField("watermark_time")
        policy = request.catch_up_policy
        policy.missed_run_policy = rng.choices([0, 1, 2, 3, 9], [45, 15, 45, 2, 1])[0]
        has_kinds = bool(schedule.spec.kinds)
        for name, share in (
            ("on_time_tolerance", 0.95 if policy.missed_run_policy == 1 else 0.5),
            ("horizon", 0.3),
            ("smear_span", 0.03 if has_kinds else 0.5),
            ("min_gap", 0.2),
        ):
            if rng.random() < share:
                most = period // (20 if has_kinds and name == "on_time_tolerance" else 1)
                most *= 9 if name == "horizon" else 1
                span = self.millis((Duration, rng.randrange(most + 1)))
                getattr(policy, name).CopyFrom(span)
        for name in ("max_clock_skew", "look_ahead"):
            if rng.random() < 0.3:
                getattr(request, name).CopyFrom(self.millis((Duration, rng.randrange(period + 1))))
        if rng.random() < 0.3:
            request.page_size = rng.choice([1, 2, 5, 65_536, -1 if self.rarely() else 3])
        return "ListDueRuns", request

    def late_runs(self) -> tuple[str, Any]:
        """Return a request for late runs of kinds that are only milliseconds apart."""
        rng = self.rng
        slots = rng.choice([4, 6, 8, 12])
        ticks = slots * rng.choice([12, 30, 60])
        spec = schedule_pb.ScheduleSpec(slot_count=slots, salt=rng.choice(TEXTS))
        spec.resolution.CopyFrom(Duration(nanos=10**6))
        spec.period.CopyFrom(Duration(seconds=ticks // 1_000, nanos=ticks % 1_000 * 10**6))
        kind_count = rng.choice([1, 2, 2, 3, 4])
        for name in NAMES[:kind_count]:
            spec.kinds.add(name=name)
        if rng.random() < 0.5:
            for kind in spec.kinds:
                kind.run_time.CopyFrom(Duration(nanos=rng.randrange(ticks // slots) * 10**6))
        request = due_pb.ListDueRunsRequest(
            schedule=schedule_pb.Schedule(spec=spec), kind=rng.choice(NAMES[:kind_count])
        )
        request.ids.integers.extend(self.integer() for _ in range(12))
        request.page_size = rng.choice([0, 0, 5])
        now = rng.randrange(-(10**6), 10**12)
        request.now_time.CopyFrom(Timestamp(seconds=now // 1_000, nanos=now % 1_000 * 10**6))
        request.watermark_unix_millis.extend(now - rng.randrange(3 * ticks) for _ in range(12))
        request.catch_up_policy.on_time_tolerance.CopyFrom(Duration(nanos=rng.randrange(3) * 10**6))
        return "ListDueRuns", request

    def route(self) -> tuple[str, Any]:
        rng = self.rng
        request = lanes_pb.RouteJobRequest()
        count = rng.choice([2, 2, 3, 4, rng.randrange(18)])
        timeout = 0
        for place in range(count):
            lane = request.lane_set.lanes.add(name="a" if self.rarely() else f"lane {place}\t")
            lane.worker_count = 1 if place in (0, count - 1) else rng.choice([0, 0, 3])
            lane.worker_count = (
                rng.choice([-1, 0, 10**7]) if self.rarely(0.01) else lane.worker_count
            )
            timeout += rng.randrange(0 if self.rarely() else 1, 10**6)
            if place < count - 1 or rng.random() < 0.5:
                lane.attempt_timeout.CopyFrom(self.millis((Duration, timeout)))
        request.lane_set.policy = rng.choice([0, 1, 2, 3 if self.rarely() else 1])
        request.lane_set.on_timeout = rng.choice([0, 1, 2, 3 if self.rarely() else 1])
        probabilities = [0.0, 0.25, 1.0, rng.random()]
        wrong = [1.5, -1e-9, float("nan"), 1e20, 1.0000000001]
        if rng.random() < 0.5:
            good = not self.rarely()
            probability = rng.choice(probabilities if good else wrong)
            request.lane_set.max_express_slow_probability = probability
        names = [lane.name for lane in request.lane_set.lanes]
        if names and rng.random() < 0.5:
            request.timed_out_lane_names.extend(rng.sample(names, rng.randrange(len(names))))
        if self.rarely():
            request.timed_out_lane_names.append("nowhere")
        if rng.random() < 0.5:
            request.prediction.SetInParent()
            if rng.random() < 0.5:
                good = not self.rarely()
                request.prediction.slow_probability = rng.choice(probabilities if good else wrong)
            elif not self.rarely():
                span = self.millis((Duration, rng.randrange(timeout + 2)))
                request.prediction.run_time.CopyFrom(span)
        if names and rng.random() < 0.3:
            request.worker_lane_name = rng.choice(names)
        return "RouteJob", request
