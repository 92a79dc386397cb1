"""README and examples: the tests run the code that they show."""

from __future__ import annotations

import json
import os
import random
import re
import shlex
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from hashlib import md5
from itertools import accumulate
from pathlib import Path
from uuid import UUID

import offbeat
import pytest
from support.ports import free_port

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
BINARY = Path(os.environ.get("OFFBEAT_BIN", ROOT / "target" / "release" / "offbeat"))
DEFAULT = "127.0.0.1:2328"
MAIN_JOB = "./examples/bank_sync/run.sh"
PICTURE = ROOT / "docs" / "images" / "bank_sync.svg"


def run(*command: str | Path, timeout: int = 600, folder: Path = ROOT, **variables: str) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    assert done.returncode == 0, f"{command}: {done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    address = f"127.0.0.1:{free_port()}"
    # The README's own command, on a port of its own.
    command = "target/release/offbeat serve"
    assert f"\n{command}\n" in README
    arguments = [BINARY, *shlex.split(command)[1:]]
    sidecar = subprocess.Popen(arguments, env={**os.environ, "OFFBEAT_LISTEN": address})
    deadline = time.monotonic() + 10
    while subprocess.run(
        [BINARY, "health", "--address", address], stderr=subprocess.DEVNULL
    ).returncode:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    yield address
    sidecar.terminate()
    assert sidecar.wait(timeout=20) == 0


def first_call(name: str) -> str:
    """Return an example as the README shows it; it asks the server at OFFBEAT_ADDRESS."""
    path = f"examples/first_calls/{name}"
    text = (ROOT / path).read_text()
    fence = re.search(rf"<!-- {re.escape(path)} -->\n```\w+\n(.*?)```", README, re.DOTALL)
    assert fence, f"the README does not show {path}"
    assert fence.group(1) == text, f"the README's {path} is another one"
    return text


def test_curl(address):
    answer = json.loads(run("bash", "-c", first_call("curl.sh"), OFFBEAT_ADDRESS=address))
    (piece,) = answer["pieces"]
    assert piece["slotIndex"] == 75
    assert piece["slotOffset"] == "8s"
    assert piece["nextRuns"][0]["startTime"] == "2026-01-01T04:41:23Z"


def test_curl_over_http_2(address):
    call = first_call("curl.sh").replace("curl ", "curl --http2-prior-knowledge ")
    answer = json.loads(run("bash", "-c", call, OFFBEAT_ADDRESS=address))
    assert answer["pieces"][0]["slotIndex"] == 75


def test_command_line():
    call = first_call("command_line.sh").replace("target/release/offbeat", str(BINARY))
    lines = run("bash", "-c", call).splitlines()
    assert [line.split()[1] for line in lines[1:]] == ["75", "80", "62"]


def test_python(address):
    call = first_call("python.py")
    lines = run(sys.executable, "-c", call, OFFBEAT_ADDRESS=address).splitlines()
    assert lines[0] == "75 2026-01-01 04:41:23+00:00"
    assert len(lines) == 4


def test_ruby(address):
    command = ["ruby", "-w", "-I", "clients/ruby/lib", "-e", first_call("ruby.rb")]
    lines = run(*command, OFFBEAT_ADDRESS=address).splitlines()
    assert lines[0] == "75 2026-01-01 04:41:23 UTC"
    assert len(lines) == 4


def test_php(address):
    command = ["php", "-d", "error_reporting=-1", "-r", first_call("php.php").removeprefix("<?php")]
    lines = run(*command, OFFBEAT_ADDRESS=address).splitlines()
    assert lines[0] == "75 2026-01-01T04:41:23+00:00"
    assert len(lines) == 4


def test_the_statements_of_the_page_on_sql(address):
    column = offbeat.SqlTarget(
        offbeat.SqlDialect.POSTGRESQL, "account", "id", offbeat.SqlColumnType.UUID
    )
    schedule = offbeat.Schedule(timedelta(days=1), slot_count=144)
    with offbeat.Client(address) as client:
        slots = client.list_slots(schedule, start_time=EPOCH, sql_target=column)
    page = " ".join((ROOT / "docs" / "sql.md").read_text().split())
    assert slots[5].predicate.sql in page
    assert all(sql in page for sql in slots[5].predicate.index.create_statements)


def test_the_recipe_as_its_page_says(address, tmp_path):
    page = (ROOT / "examples" / "recipe" / "README.md").read_text()
    (commands,) = re.findall(r"```sh\n(.*?)```", page, re.DOTALL)
    here = commands.replace("accounts.db", str(tmp_path / "accounts.db"))
    lines = run("bash", "-euc", here, OFFBEAT_ADDRESS=address).splitlines()
    counted = re.compile(r"(?:import|export): (\d+) jobs, (\d+) of them late; (\d+) superseded")
    enqueued = [tuple(map(int, counted.fullmatch(line).groups())) for line in lines[:2]]
    # For each kind, nearly all accounts have a late run; the others run at about this time.
    assert all(850 < late <= jobs and 20 < superseded < 150 for jobs, late, superseded in enqueued)
    time = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"
    assert all(re.fullmatch(rf"(?:import|export)\|{time}\|\d+", line) for line in lines[2:])
    count = run("sqlite3", str(tmp_path / "accounts.db"), "SELECT count(*) FROM job")
    assert int(count) == sum(jobs for jobs, _, _ in enqueued)
    assert len(lines) == 7


def test_the_page_on_spreading(tmp_path):
    page = (ROOT / "docs" / "spread.md").read_text()
    assert "`cargo run --release --package offbeat-core --example spread_table`" in page
    # As the Rust tests have built it: in a release build, all of its crates would be built again.
    run("cargo", "build", "--locked", "--quiet", "--workspace", "--example", "spread_table")
    table = run(str(ROOT / "target" / "debug" / "examples" / "spread_table"))
    assert table.count("|") > 20
    assert table in page
    printed = re.findall(r"```sh\n(printf.*?)```\n\n```\n(.*?)```", page, re.DOTALL)
    assert len(printed) == 2
    for command, output in printed:
        here = command.replace("target/release/offbeat", str(BINARY))
        assert run("bash", "-c", f"({here}) 2>&1", folder=tmp_path) == output


def test_two_workers_in_a_shell(address):
    path = "examples/named_spread/shell/two_workers.sh"
    text = (ROOT / path).read_text()
    page = (ROOT / "docs" / "spread.md").read_text()
    fence = re.search(rf"<!-- {path} -->\n```sh\n(.*?)```\n\n```\n(.*?)```", page, re.DOTALL)
    assert fence, f"the page does not show {path}"
    assert fence.group(1) == text
    call = text.replace("target/release/offbeat", str(BINARY)).replace(" errands ", " in-a-shell ")
    assert run("bash", "-c", call, timeout=60, OFFBEAT_ADDRESS=address) == fence.group(2)


def shown(page: str) -> list[str]:
    """Return the blocks of a page: commands and their output."""
    return re.findall(r"```(?:sh)?\n(.*?)```", (ROOT / "docs" / page).read_text(), re.DOTALL)


@pytest.mark.parametrize(("page", "count"), [("lanes.md", 1), ("stages.md", 2)])
def test_commands_print_what_the_page_says(page, count):
    blocks = shown(page)
    commands, outputs = blocks[: 2 * count : 2], blocks[1 : 2 * count : 2]
    assert len(outputs) == count
    for command, printed in zip(commands, outputs):
        assert "target/release/offbeat" in command
        assert run("bash", "-c", command.replace("target/release/offbeat", str(BINARY))) == printed


def test_a_plan_of_lanes_from_csv_prints_what_the_page_says():
    command, printed = shown("lanes.md")[2:4]
    assert "--by type" in command
    assert run("bash", "-c", command.replace("target/release/offbeat", str(BINARY))) == printed


@pytest.mark.parametrize("language", ["python", "ruby", "php"])
def test_a_worker_of_two_lanes(address, language):
    (program,) = (ROOT / "examples" / "lanes" / language).glob("worker.*")
    command = [*LANGUAGES[language], program]
    lines = run(*command, timeout=60, OFFBEAT_ADDRESS=address).splitlines()
    assert any("slow1" in line for line in lines)
    assert len(lines) >= 6


NAMED = ROOT / "examples" / "named_spread"
LANGUAGES = {
    "python": [sys.executable],
    "ruby": ["ruby", "-w", "-I", "clients/ruby/lib"],
    "php": ["php"],
}


@pytest.mark.parametrize(
    "languages",
    [["python"] * 5, ["ruby"] * 5, ["php"] * 5, ["php", "ruby", "python", "ruby", "php"]],
    ids=lambda languages: "-".join(dict.fromkeys(languages)),
)
def test_two_producers_and_three_consumers(address, languages):
    page = (ROOT / "docs" / "spread.md").read_text()
    spread, programs = f"example-{'-'.join(languages)}", []

    def start(language: str, program: str, *arguments: str) -> subprocess.Popen:
        (path,) = (NAMED / language).glob(f"{program}.*")
        if language == "python":
            assert f"<!-- {path.relative_to(ROOT)} -->\n```python\n{path.read_text()}```" in page
        command = [*LANGUAGES[language], path, spread, *arguments]
        here = {**os.environ, "OFFBEAT_ADDRESS": address}
        programs.append(
            subprocess.Popen(command, cwd=ROOT, env=here, stdout=subprocess.PIPE, text=True)
        )
        return programs[-1]

    try:
        names = ["a", "b", "one", "two", "three"]
        producers = [
            start(language, "producer", name, "10", "20")
            for language, name in zip(languages[:2], names)
        ]
        consumers = [
            start(language, "consumer", name) for language, name in zip(languages[2:], names[2:])
        ]
        for name, producer in zip(names, producers):
            assert producer.communicate(timeout=60)[0] == f"{name}: 10 groups settled\n"
        client = offbeat.Client(address)
        handle = client.named_spread(spread, feeder_count=8, lease_duration=timedelta(seconds=5))
        assert handle.close(wait=10).state is offbeat.SpreadState.CLOSED
        done = [consumer.communicate(timeout=60)[0].split() for consumer in consumers]
        jobs = sorted(
            (group, int(job)) for words in done for group, job in zip(words[1::3], words[2::3])
        )
        groups = [f"{prefix}-{number}" for prefix in "ab" for number in range(10)]
        assert jobs == sorted((group, job) for group in groups for job in range(20))
        assert all(program.returncode == 0 for program in programs)
    finally:
        for program in programs:
            program.kill()


def test_named_spreads_by_curl(address):
    page = (ROOT / "docs" / "spread.md").read_text()
    close, open_ = re.findall(r"```sh\n(curl.*?)```", page, re.DOTALL)
    answer = json.loads(run("bash", "-c", open_.replace(DEFAULT, address)))
    assert answer["created"] is True
    assert answer["description"]["spec"]["leaseDuration"] == "30s"
    close = close.replace("127.0.0.1:2328", address).replace("mail", "by-hand")
    answer = json.loads(run("bash", "-c", close))
    assert answer["description"]["state"] == "SPREAD_STATE_CLOSED"


def test_the_table_of_clients():
    """Every method of the table is one of its client, and the other way round."""
    text = (ROOT / "clients" / "README.md").read_text()
    table = [line.split("|")[2:5] for line in text.splitlines() if line.startswith("| ")]
    named = [set(re.findall(r"`([a-z]\w+)`", " ".join(column))) for column in zip(*table)]
    sources = [
        (
            ["python/src/offbeat/client.py", "python/src/offbeat/_*_calls.py"],
            r"^    def ([a-z]\w+)\(",
        ),
        (["ruby/lib/offbeat/client.rb", "ruby/lib/offbeat/client/*.rb"], r"^    def ([a-z]\w+)\("),
        (
            ["php/src/Client.php", "php/src/Internal/*Calls.php"],
            r"^    public function ([a-z]\w+)\(",
        ),
    ]
    for names, (globs, pattern) in zip(named, sources):
        files = [file for glob in globs for file in (ROOT / "clients").glob(glob)]
        public = [file.read_text().split("    private\n")[0] for file in files]
        found = {name for text in public for name in re.findall(pattern, text, re.MULTILINE)}
        methods = found - {"close", "initialize"}
        assert len(methods) >= 16
        assert methods <= names, globs


def numbers(text: str, label: str) -> list[int]:
    """Return the numbers in a line of the main example's output."""
    (line,) = re.findall(rf"^ +{label} (.*)$", text, re.MULTILINE)
    return [int(number.replace(",", "")) for number in re.findall(r"[\d,]+", line)]


def drawn(kind: str) -> list[int]:
    """Return a number for each minute, as the path of the picture has them."""
    (path,) = re.findall(rf'<path class="{kind}" [^>]* d="M0,0([^"]*)V0Z"', PICTURE.read_text())
    return list(accumulate(int(step) for step in re.findall(r"v(-?\d+)h1", path)))


def test_the_main_job():
    assert f"```sh\n{MAIN_JOB}\n```" in README
    output = run(MAIN_JOB, OFFBEAT_ADDRESS="")
    assert "Every account has one sync and one report: yes." in output
    hours = [numbers(output, f"from {hour}:00") for hour in range(8)]
    assert hours[0][0] == 400_000
    assert all(cron == 0 for cron, _ in hours[1:])
    assert sum(load for _, load in hours) == 400_000
    assert all(49_000 < load < 51_000 for _, load in hours)
    assert numbers(output, "in the fullest minute")[:2] == [400_000, max(drawn("report"))]
    assert re.search(r"two jobs of an account +same instant +4:00:00  apart", output)
    fullest, likely = re.search(r"minute of one kind: ([\d,]+) .*at most ([\d,]+)", output).groups()
    assert int(fullest) <= int(likely) * 1.02


def test_the_picture_is_what_a_sidecar_that_runs_already_says(address, tmp_path):
    builder = tmp_path / "cargo"
    builder.write_text("#!/bin/sh\necho there is nothing to build >&2\nexit 1\n")
    builder.chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    run(MAIN_JOB, "--svg", tmp_path / "fresh.svg", OFFBEAT_ADDRESS=address, PATH=path)
    assert (tmp_path / "fresh.svg").read_text() == PICTURE.read_text(), (
        f"draw it again: {MAIN_JOB} --svg {PICTURE.relative_to(ROOT)}"
    )
    (label,) = re.findall(r'aria-label="([^"]*)"', PICTURE.read_text())
    assert f"![{label}]({PICTURE.relative_to(ROOT)})" in " ".join(README.split())


def test_the_picture_by_the_definition_of_a_hash_placement():
    rng = random.Random(2328)
    ids = (str(UUID(int=rng.getrandbits(128), version=4)) for _ in range(200_000))
    hashes = (int.from_bytes(md5(text.encode()).digest()[:8], "big") for text in ids)
    minutes = Counter(hash_of_id * 480 >> 64 for hash_of_id in hashes)
    syncs = [minutes[minute] for minute in range(480)]
    assert drawn("cron") == [400_000] + [0] * 479
    assert drawn("sync") == syncs
    # The area of reports is stacked on that of syncs, and reports are half a cycle later.
    assert drawn("report") == [syncs[minute] + syncs[minute - 240] for minute in range(480)]


def test_the_test_command_is_the_one_that_ci_runs():
    assert "```sh\n./tests/run.sh\n```" in README
    assert "./tests/run.sh" in (ROOT / ".ci" / "run").read_text()


def test_links_lead_somewhere():
    pages = [
        page for page in ROOT.rglob("*.md") if not {"target", "node_modules"} & set(page.parts)
    ]
    assert len(pages) > 5
    for page in pages:
        for link in re.findall(r"\]\(([^)#]+)", page.read_text()):
            if "://" not in link:
                assert (page.parent / link).exists(), f"{page.name}: {link}"


PAGES = sorted((ROOT / "docs" / "schedules").glob("*.md"))
#: Words in the output of each page's command, including standard error.
SAYS = {
    "audit.md": [r"chi-square", r"slot 31 +\d+  #+", r"fullest in|in the fullest"],
    "migration.md": [r"path +SAME_ORDER", r"longest gap +43\d\d\ds", r"bolt +0 +20"],
    "missed_runs.md": [r"next watermark 2026-01-01T03:00:00Z", r"SCHEDULED"],
    "new_ids.md": [r"FIRST RUN", r"dune"],
    "weights.md": [r"fullest +slot \d+ with [\d.]+, [12]\.\d+ times the mean"],
}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_pages_about_schedules(page, tmp_path):
    commands = re.findall(r"```sh\n(.*?)```", page.read_text(), re.DOTALL)
    assert commands, page
    here = [command.strip().replace("target/release/offbeat", str(BINARY)) for command in commands]
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    text = "".join(run("bash", "-c", f"({command}) 2>&1", folder=tmp_path) for command in here)
    for words in SAYS.get(page.name, []):
        assert re.search(words, text), f"{page.name}: no {words!r} in {text}"


def test_weights_even_out_what_sizes_do():
    page = (ROOT / "docs" / "schedules" / "weights.md").read_text()
    (command,) = re.findall(r"```sh\n(.*?)```", page, re.DOTALL)
    command = command.strip().replace("target/release/offbeat", str(BINARY))

    def over_mean(quantum: int) -> float:
        asked = command.replace("--weight-quantum 1000", f"--weight-quantum {quantum}")
        return json.loads(run("bash", "-c", f"{asked} --format json"))["fullest_to_mean_ratio"]

    whole, cut = over_mean(1_000_000_000), over_mean(1_000)
    assert 14 < whole < 24
    assert cut < 2.3
