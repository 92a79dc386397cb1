"""The page on the simulator shows the real output of its commands; and the example scenarios."""

from __future__ import annotations

import json
import re
import signal
import sqlite3
import subprocess
import time
from functools import lru_cache
from pathlib import Path

import pytest
from pages import BINARY, BLOCK, ROOT, answers

PAGE = ROOT / "docs" / "simulator.md"
SIMULATIONS = ROOT / "examples" / "simulations"
SCENARIOS = sorted(SIMULATIONS.glob("*.toml"))


def simulate(*arguments: str | Path, stdin: str = "") -> subprocess.CompletedProcess:
    command = [BINARY, "simulate", *arguments]
    return subprocess.run(
        command, cwd=ROOT, input=stdin, capture_output=True, text=True, timeout=60
    )


def test_commands_and_queries_print_what_the_page_says(tmp_path):
    found = answers(PAGE.read_text(), tmp_path)
    assert len(found) == 17
    for block, printed in found:
        assert block.group(2) == printed


def test_the_scenario_of_the_page(tmp_path):
    (text,) = (block.group(2) for block in BLOCK.finditer(PAGE.read_text()) if block[1] == "toml")
    (tmp_path / "smallest.toml").write_text(text)
    done = simulate(tmp_path / "smallest.toml")
    assert (done.returncode, done.stderr) == (0, "")


@lru_cache
def results(name: str) -> dict:
    done = simulate(SIMULATIONS / f"{name}.toml", "--format", "json")
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def figures(name: str) -> dict[str, dict]:
    return {strategy["name"]: strategy["figures"] for strategy in results(name)["strategies"]}


@pytest.mark.parametrize("name", [path.stem for path in SCENARIOS])
def test_figures_make_sense(name):
    found = results(name)
    names = [strategy["name"] for strategy in found["strategies"]]
    assert sorted(found["ranking"]) == sorted(names)
    assert len(set(names)) == len(names)
    assert found["scenario"]["is_cut"] is False
    for strategy in found["strategies"]:
        those = strategy["figures"]
        assert those["p50_wait"] <= those["p95_wait"] <= those["p99_wait"]
        assert those["mean_wait"] <= those["mean_sojourn"] or those["jobs_left"] > 1000
        assert those["interval_p05"] <= those["interval_p95"]
        assert 0 < those["utilization"] < 1.01
        ranks = strategy["ranks"] or {}
        assert all(1 <= rank <= len(names) for rank in ranks.values())
        assert bool(ranks) != strategy["feasibility"]["jobs_pile_up"]
        assert strategy["series"]["queue_depth"]
        # Finished jobs per second add up to the total.
        series = strategy["series"]
        per_second = series["finished_per_second"]
        covered = [series["step"]] * len(per_second)
        covered[-1] = found["scenario"]["duration"] - sum(covered[:-1])
        by_second = sum(rate * span for rate, span in zip(per_second, covered))
        if len(found["scenario"]["seeds"]) == 1:
            assert by_second == pytest.approx(those["jobs_finished"], rel=1e-9)


def test_slots_keep_the_queue_small():
    week = figures("bank_sync_week")
    slots, at_once = week["slots, twister"], week["at once"]
    assert slots["max_queue_depth"] < 0.05 * at_once["max_queue_depth"]
    assert slots["peak_enqueued_per_second"] < 0.05 * at_once["peak_enqueued_per_second"]
    assert slots["mean_wait"] < 0.05 * at_once["mean_wait"]
    assert slots["interval_variation"] < 0.01 < 0.3 < week["random smear"]["interval_variation"]
    assert all(strategy["never_served"] == 0 for strategy in week.values())
    # 21 cycles: only a few jobs are still running at the end.
    for strategy in week.values():
        assert strategy["jobs_finished"] == pytest.approx(21 * 29_000, rel=0.01)
    assert results("bank_sync_week")["ranking"][0] == "slots, twister"


def test_the_spiral():
    spiral = figures("spiral")
    slots, at_once = spiral["slots, twister"], spiral["at once"]
    assert slots["max_queue_depth"] < 100
    assert slots["never_served"] == 0
    assert slots["jobs_finished"] > 599_000
    assert at_once["jobs_finished"] < 0.5 * slots["jobs_finished"]
    assert at_once["max_queue_depth"] > 300_000
    series = {strategy["name"]: strategy["series"] for strategy in results("spiral")["strategies"]}
    assert set(series["slots, twister"]["workers"]) == {16}
    assert series["at once"]["workers"][-1] == 96
    # Six times as many workers finish less than half as many jobs as the first 16 do in the first
    # half hour, in which few workers have been added. The second half of the time is compared.
    rates, step = series["at once"]["finished_per_second"], series["at once"]["step"]
    begin = rates[: 1800 // step]
    later = rates[len(rates) // 2 :]
    assert sum(later) / len(later) < 0.5 * sum(begin) / len(begin)


def test_without_its_autoscaler_the_spiral_does_not_begin(tmp_path):
    text = GOOD.read_text()
    assert text.count("maximum = 96") == 1
    (tmp_path / "without.toml").write_text(text.replace("maximum = 96", "maximum = 16"))
    found = json.loads(simulate(tmp_path / "without.toml", "--format", "json").stdout)
    without = {one["name"]: one["figures"] for one in found["strategies"]}["at once"]
    assert without["jobs_finished"] == 600_000
    assert figures("spiral")["at once"]["jobs_finished"] < 0.5 * without["jobs_finished"]


def test_a_bank_that_is_down_clogs_least_recent_first_alone():
    down = figures("bank_down")
    served = {name: strategy["jobs_finished"] for name, strategy in down.items()}
    others = [count for name, count in served.items() if name != "least recent"]
    assert min(others) > 0.95 * 300_000 > 0.85 * 300_000 > served["least recent"]
    # In the other strategies only customers of that bank miss runs: fewer than 1 interval in 20.
    assert down["slots, twister"]["interval_p95"] < 8.1 * 3600
    assert down["least recent"]["interval_p95"] > 24 * 3600
    assert down["least recent"]["wasted_ratio"] > 4 * down["slots, twister"]["wasted_ratio"]


@pytest.mark.parametrize("kinds", ["two", "three"])
def test_reciprocal_kinds_do_not_meet(kinds):
    found = figures(f"lock_conflicts_{kinds}_kinds")
    for strategy in ("slots, twister", "slots, hash", "self rescheduling", "random smear"):
        assert found[strategy]["lock_conflicts"] == 0
        assert found[f"{strategy}, independent"]["lock_conflicts"] > 30


def test_spread_groups_meet_less():
    conflicts = {name: found["lock_conflicts"] for name, found in figures("spread").items()}
    names = ["spread, 64 feeders", "spread, 32 feeders", "spread, 16 feeders", "at once"]
    assert sorted(conflicts, key=conflicts.get) == names
    assert conflicts["spread, 64 feeders"] < 0.01 * conflicts["at once"]
    assert all(found["jobs_finished"] == 60_000 for found in figures("spread").values())


def test_lanes_are_as_they_were_planned():
    run_times = (SIMULATIONS / "express_lanes_run_times.txt").read_text()
    command = [BINARY, "lanes", "plan", "--workers", "4", "--arrival-rate", "1.2"]
    plan = subprocess.run(command, input=run_times, capture_output=True, text=True, check=True)
    planned = re.search(r"^mean wait +([\d.]+) s +([\d.]+) s$", plan.stdout, re.MULTILINE)
    assert re.search(r"^express +1 +0\.55 s\nslow +3 +none$", plan.stdout, re.MULTILINE)
    found = figures("express_lanes")
    for wait, strategy in zip(planned.groups(), ["random, two lanes", "random, one queue"]):
        assert found[strategy]["mean_wait"] == pytest.approx(float(wait), rel=0.05)
    assert found["random, two lanes, suspend"]["wasted_ratio"] == 0


def test_erlang_and_ticks(tmp_path):
    (found,) = figures("four_workers").values()
    assert found["mean_wait"] == pytest.approx(4 * 0.745541, rel=0.02)
    text = (SIMULATIONS / "four_workers.toml").read_text()
    assert '\n# tick = "1s"\n' in text
    (tmp_path / "ticks.toml").write_text(text.replace("# tick", "tick"))
    ticks = json.loads(simulate(tmp_path / "ticks.toml", "--format", "json").stdout)
    assert 2.5 < ticks["strategies"][0]["figures"]["mean_wait"] / found["mean_wait"] < 3.1


def test_the_same_bytes_again(tmp_path):
    path = SIMULATIONS / "spread.toml"
    outs = []
    for turn in "ab":
        files = [tmp_path / f"{turn}.{suffix}" for suffix in ("csv", "sqlite")]
        done = simulate(path, "--format", "json", "--out", files[0], "--out", files[1])
        outs.append([done.stdout.encode(), *(file.read_bytes() for file in files)])
    assert outs[0] == outs[1]
    again = [sqlite3.connect(tmp_path / "a.sqlite"), (tmp_path / "a.csv").read_text()]
    query = """
        SELECT name, seed, seconds.* FROM seconds
        JOIN runs ON runs.id = run_id JOIN strategies ON strategies.id = strategy_id
        ORDER BY run_id, second
    """
    rows = again[0].execute(query).fetchall()
    lines = again[1].splitlines()
    assert len(rows) == len(lines) - 1 == 4 * 86_400
    for place in (0, 100, 86_400, 200_000, len(rows) - 1):
        name, seed, _, *counts = rows[place]
        quoted = f'"{name}"' if "," in name else name
        assert ",".join(map(str, [quoted, seed, *counts])) == lines[place + 1]


def test_a_queue_starts_its_jobs_as_ciw_does():
    traces = json.loads((ROOT / "tests" / "vectors" / "fifo_trace.json").read_text())["traces"]
    assert [trace["servers"] for trace in traces] == [1, 4, 15]
    for trace in traces:
        jobs = zip(trace["interarrival"], trace["service"])
        lines = ["arrival_gap,service_time", *(f"{gap:.6f},{time:.6f}" for gap, time in jobs)]
        arguments = ["queue", "--workers", str(trace["servers"])]
        done = simulate(*arguments, stdin="\n".join(lines) + "\n")
        assert done.stdout.splitlines() == [f"{start:.6f}" for start in trace["start"]]


def test_ctrl_c_ends_it_with_what_there_is(tmp_path):
    week = (SIMULATIONS / "bank_sync_week.toml").read_text()
    assert 'duration = "7d"' in week
    (tmp_path / "long.toml").write_text(week.replace('"7d"', '"100d"'))
    command = [BINARY, "simulate", tmp_path / "long.toml", "--format", "json"]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        time.sleep(1)
        assert running.poll() is None
        running.send_signal(signal.SIGINT)
        begin = time.monotonic()
        stdout, stderr = running.communicate(timeout=20)
        assert time.monotonic() - begin < 2
    finally:
        running.kill()
    assert running.returncode == 0
    assert "interrupted" in stderr
    found = json.loads(stdout)
    assert found["scenario"]["is_cut"] is True
    assert max(strategy["figures"]["jobs_finished"] for strategy in found["strategies"]) > 1000


GOOD = SIMULATIONS / "spiral.toml"
BAD = [
    ('duration = "2d"', 'duration = "0s"', "duration"),
    ("count = 100000", "count = 0", "users.count"),
    ("count = 100000", "count = 100000000", "users.count"),
    ('cycle = "8h"', 'cycle = "1500us"', "users.cycle"),
    ('cycle = "8h"', 'cycle = "eight"', "users.cycle"),
    ("workers = 16", "workers = -1", "workers"),
    ('{ p50 = "2s", p90 = "6s" }', '{ mean = "4s", p90 = "120s" }', "kinds[0].run_time.p90"),
    ('{ p50 = "2s", p90 = "6s" }', '{ mean = "4s", p90 = "9.1s" }', "kinds[0].run_time.p90"),
    ('{ p50 = "2s", p90 = "6s" }', '{ p50 = "4s", p90 = "3s" }', "kinds[0].run_time.p90"),
    ('{ p50 = "2s", p90 = "6s" }', '"0s"', "kinds[0].run_time"),
    ('{ p50 = "2s", p90 = "6s" }', '{ samples = "none" }', "kinds[0].run_time.samples"),
    ("maximum = 96", "maximum = 15", "autoscaler.maximum"),
    ('placement = "twister"', "feeders = 3", "strategies[2].feeders"),
    ('placement = "twister"', "slot_count = 7", "strategies[2].slot_count"),
    ("batch = 5000", "batch = -1", "strategies[1].batch"),
    ('per_waiting = "1us"', 'per_waiting = "2s"', "dequeue.per_waiting"),
    ('per_rival = "5ms"', 'per_rival = "2s"', "dequeue.per_rival"),
    ('placement = "twister"', 'colour = "red"', "colour"),
    ('placement = "twister"', "suspend = true", "strategies[2].suspend"),
    ('placement = "twister"', 'other_kinds = "same"', "strategies[2].other_kinds"),
    ('placement = "twister"', "lanes = [{ workers = 16 }]", "strategies[2].lanes"),
    ('placement = "twister"', 'placement = "twister"\nbucket_count = 512', "bucket_count"),
    ("workers = 16", "workers = 16\nseeds = [7, 7]", "seeds[1]"),
    ('cycle = "8h"', 'cycle = "49h"', "users.cycle"),
    ("exclusive = true", "", "dequeue.per_rival"),
]


@pytest.mark.parametrize(("good", "bad", "field"), BAD, ids=[bad for _, bad, _ in BAD])
def test_a_bad_scenario_is_refused(good, bad, field, tmp_path):
    text = GOOD.read_text()
    assert text.count(good) == 1
    (tmp_path / "bad.toml").write_text(text.replace(good, bad))
    done = simulate(tmp_path / "bad.toml")
    assert (done.returncode, done.stdout) == (64, "")
    assert field in done.stderr.removeprefix(f"offbeat-simulate: {tmp_path}/bad.toml: ")


def test_a_scenario_that_cannot_be_read_is_refused(tmp_path):
    (tmp_path / "latin.toml").write_bytes('name = "Müll"'.encode("latin-1"))
    (tmp_path / "long.toml").write_text("#" * (1 << 18) + "#")
    for path in (tmp_path / "none.toml", tmp_path / "latin.toml", tmp_path, tmp_path / "long.toml"):
        done = simulate(path)
        assert (done.returncode, done.stdout) == (64, "")
        assert done.stderr.startswith(f"offbeat-simulate: {path}: ")


SMALL = """
name = "small"
duration = "2500ms"
workers = 2
[users]
count = 10
cycle = "1s"
[[kinds]]
name = "sync"
run_time = "100ms"
[[partners]]
name = "bank"
share = 1
max_per_second = 1
retry_after = "200ms"
[[partners]]
name = "other, larger bank"
share = 2
[[strategies]]
kind = "at_once"
[[strategies]]
kind = "slots"
"""


def test_only_our_own_files_are_overwritten(tmp_path):
    (tmp_path / "small.toml").write_text(SMALL)
    flags = {"sqlite": "--out", "csv": "--out", "html": "--report"}
    files = {ending: tmp_path / f"out.{ending}" for ending in flags}
    for ending, file in files.items():
        call = [tmp_path / "small.toml", flags[ending], file]
        if ending == "sqlite":
            with sqlite3.connect(file) as other:
                other.execute("CREATE TABLE customers (name)")
        else:
            file.write_text("customers,strategy\n")
        before = file.read_bytes()
        done = simulate(*call)
        assert (done.returncode, done.stdout) == (64, ""), ending
        assert str(file) in done.stderr
        assert "--force" in done.stderr
        assert file.read_bytes() == before
        assert simulate(*call, "--force").returncode == 0
        ours = file.read_bytes()
        assert ours != before
        # Files that a simulation wrote, and empty files, are overwritten.
        assert simulate(*call).returncode == 0
        assert file.read_bytes() == ours
        file.write_bytes(b"")
        assert simulate(*call).returncode == 0
        assert file.read_bytes() == ours
    twice = simulate(tmp_path / "small.toml", "--out", files["csv"], "--out", files["csv"])
    assert (twice.returncode, twice.stdout) == (64, "")


def test_all_outputs_say_the_same(tmp_path):
    (tmp_path / "small.toml").write_text(SMALL)
    files = {ending: tmp_path / f"out.{ending}" for ending in ("sqlite", "csv")}
    call = [tmp_path / "small.toml", "--out", files["sqlite"], "--out", files["csv"]]
    found = json.loads(simulate(*call, "--format", "json").stdout)
    table = simulate(*call).stdout
    with sqlite3.connect(files["sqlite"]) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        database.row_factory = sqlite3.Row
        strategies = [dict(row) for row in database.execute("SELECT * FROM strategies")]
        partners = [dict(row) for row in database.execute("SELECT * FROM partners")]
        rows = database.execute("SELECT sum(finished), sum(failed), count(*) FROM seconds")
        finished, failed, count = rows.fetchone()
    for place, (outcome, row) in enumerate(zip(found["strategies"], strategies, strict=True)):
        about = {"id": place, "name": outcome["name"], "kind": outcome["kind"]}
        assert row == {**about, **outcome["figures"]}
        theirs = [
            {
                **{key: cell for key, cell in partner.items() if key != "series"},
                "strategy_id": place,
            }
            for partner in outcome["partners"]
        ]
        assert [row for row in partners if row["strategy_id"] == place] == theirs
        done = sum(partner["jobs_finished"] for partner in theirs)
        assert done == outcome["figures"]["jobs_finished"]
        for partner in theirs:
            assert re.search(
                rf"^{outcome['name']} +{partner['name']} +{partner['jobs_finished']:.0f} "
                rf"+{partner['throttled']:.0f} +{partner['failed']:.0f} ",
                table,
                re.MULTILINE,
            )
    assert partners[0]["throttled"] > 0
    assert partners[1]["throttled"] == 0
    assert failed == sum(partner["throttled"] + partner["failed"] for partner in partners)
    # Two strategies, and a duration of two and a half seconds.
    assert count == len(files["csv"].read_text().splitlines()) - 1 == 6
    assert finished == sum(one["figures"]["jobs_finished"] for one in found["strategies"])
