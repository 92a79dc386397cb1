"""Polls at random intervals, with outages and clocks that go back, against brute force."""

from __future__ import annotations

import dataclasses
import random

from cases import (
    a_case,
    a_time_near,
    duration,
    first_tick,
    instant,
    millis,
    shortest_millis,
    shown,
    smeared,
    some_ids,
)
from conftest import Cases
from model import TWO64, rev64
from offbeat.v1 import due_runs_pb2
from offbeat.v1.slots_pb2_grpc import SlotServiceStub

SKIP, RUN_ONCE = 1, 2
NANOS = 1_000_000


def test_due_runs(stub: SlotServiceStub, cases: Cases) -> None:
    def check(rng: random.Random) -> None:
        case = a_case(rng)
        model, (column, ids) = case.model, some_ids(rng, case, 5)
        rows, weights = [(index, 0, one) for index, one in enumerate(ids)], []
        if rng.random() < 0.3:
            case.spec.weight_quantum = 10
            weights = [rng.choice([0, 1, 10, 11, 25, 95]) for _ in ids]
            rows = [
                (index, piece, dataclasses.replace(one, piece=piece))
                for index, one in enumerate(ids)
                for piece in range(max(1, min(model.slots, -(-weights[index] // 10))))
            ]
        cycle, shortest = model.longest * model.tick, shortest_millis(model)
        policy = rng.choice([SKIP, RUN_ONCE, 3, 3])
        tolerance = rng.choice([0, min(60_000, shortest), rng.randrange(shortest + 1)])
        horizon = tolerance + rng.choice([0, rng.randrange(3 * cycle + 1)])
        span = rng.choice([0, rng.randrange(shortest + 1)])
        skew = rng.choice([0, shortest, rng.randrange(shortest + 1)])
        look_ahead = rng.choice([0, 0, 1, rng.randrange(shortest + 1)])
        min_gap = rng.choice([0, 0, 1, rng.randrange(shortest + 1)])
        watermark = clock = a_time_near(rng, case)
        listed = set()
        for _ in range(5):
            clock += rng.choice([0, cycle // 10, cycle // 3, rng.randrange(2 * cycle + 1)])
            now = clock
            if rng.random() < 0.2:  # another machine, whose clock is behind
                now = max(watermark - skew - look_ahead, clock - rng.randrange(skew + 1))
            nanos = rng.choice([0, 0, 1, NANOS - 1])
            request = due_runs_pb2.ListDueRunsRequest(
                schedule=case.schedule,
                ids=column,
                weights=weights,
                watermark_time=instant(watermark),
                now_time=instant(now),
                catch_up_policy=due_runs_pb2.CatchUpPolicy(
                    missed_run_policy=policy,
                    on_time_tolerance=duration(tolerance),
                    horizon=duration(horizon),
                    smear_span=duration(span),
                    min_gap=duration(min_gap),
                ),
                max_clock_skew=duration(skew),
                look_ahead=duration(look_ahead),
            )
            request.now_time.nanos += nanos
            exactly, now = now * NANOS + nanos, now + (nanos > 0)
            answer = stub.ListDueRuns(request)
            expected, late_count, dropped_count = [], 0, 0
            superseded_count, skipped_count, nexts = 0, 0, []
            following = max(watermark, now + look_ahead)
            listed_until = first_tick(case, now + look_ahead)
            for index, piece, one in rows:
                runs = model.runs(one, first_tick(case, watermark), listed_until)
                skipped_count += model.skipped_count(one, first_tick(case, watermark), listed_until)
                next_due = model.next_run(one, first_tick(case, following))
                nexts += [next_due.at * model.tick] if next_due else []
                on_time, missed, dropped = [], [], 0
                for run in runs:
                    age = exactly - run.at * model.tick * NANOS
                    if age <= tolerance * NANOS:
                        on_time.append(run)
                    elif age <= horizon * NANOS:
                        missed.append(run)
                    else:
                        dropped += 1
                caught_up = missed
                # Runs that the look-ahead adds are not due yet, and do not supersede missed runs.
                is_due = any(run.at < first_tick(case, now) for run in on_time)
                if policy == SKIP or (policy == RUN_ONCE and is_due):
                    caught_up = []
                elif policy == RUN_ONCE:
                    caught_up = missed[-1:]
                spread = (one.smear + rev64(piece)) % TWO64
                starts = [
                    smeared(model, now, spread, place, len(caught_up), span)
                    for place in range(len(caught_up))
                ]
                if None in starts:  # nothing may start in the next 64 cycles
                    caught_up = []
                dropped_count += dropped + len(missed) - len(caught_up)
                if policy == RUN_ONCE and caught_up:
                    own = model.next_run(one, first_tick(case, now))
                    if own and starts[0] >= own.at * model.tick - min_gap:
                        superseded_count, caught_up = superseded_count + 1, []
                late_count += len(caught_up)
                for run, start in zip(caught_up, starts):
                    expected.append((index, piece, run.cycle, run.at * model.tick, start))
                for run in on_time:
                    at = run.at * model.tick
                    expected.append((index, piece, run.cycle, at, at))
            columns = answer.runs
            got = list(
                zip(
                    columns.id_indexes,
                    columns.piece_indexes,
                    columns.cycle_indexes,
                    columns.scheduled_unix_millis,
                    columns.start_unix_millis,
                )
            )
            asked = shown(case.spec, str(request).replace("\n", " "))
            assert got == expected, asked
            counts = (answer.late_run_count, answer.dropped_run_count)
            assert counts == (late_count, dropped_count), asked
            counts = (answer.superseded_run_count, answer.skipped_run_count)
            assert counts == (superseded_count, skipped_count), asked
            next_due = [millis(answer.next_due_time)] if answer.HasField("next_due_time") else []
            assert next_due == sorted(nexts)[:1], asked
            keys = [row[:3] for row in got]
            assert listed.isdisjoint(keys), asked
            listed.update(keys)
            watermark = following
            assert millis(answer.next_watermark_time) == watermark, asked
            clock = max(clock, watermark)

    cases(check)
