"""The image, run by podman under the limits of production."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import re
import shutil
import socket
import sys
import tarfile
import tempfile
import threading
import time
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path

import offbeat
import pytest
from containers import MEMORY, RESTRICTED, ROOT, USER, Container, checked, podman, run
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

FOLDER = ROOT / "deploy" / "image"
CLIENTS = {
    "python": [sys.executable, "tests/deploy/clients/call.py"],
    "ruby": ["ruby", "-I", "clients/ruby/lib", "tests/deploy/clients/call.rb"],
    "php": ["php", "tests/deploy/clients/call.php"],
}
SLOT = "75"  # the answer to the clients' first call in README.md
SOCKET = "unix:/run/offbeat/offbeat.sock"
MEMBER = (1000, USER)
STRANGER = (1000, 1000)

every_language = pytest.mark.parametrize("language", CLIENTS)


def call(language: str, address: str, *user: int) -> str:
    return checked("timeout", "60", *CLIENTS[language], address, *map(str, user))


# What is in it


@pytest.fixture(scope="module")
def contents(image, tmp_path_factory) -> tarfile.TarFile:
    archive = tmp_path_factory.mktemp("image") / "image.tar"
    name = podman("create", *RESTRICTED, image)
    try:
        podman("export", "--output", archive, name)
    finally:
        podman("rm", name)
    return tarfile.open(archive)


def test_it_holds_the_binary_and_its_papers(contents):
    files = {member.name for member in contents if not member.isdir()}
    assert files == {"offbeat", "LICENSE", "THIRD-PARTY-LICENSES.gz", "offbeat.cdx.json"}
    assert all(member.uid == 0 for member in contents if not member.isdir())
    writable = {member.name for member in contents if member.uid == USER}
    assert writable <= {"run", "run/offbeat"}
    assert contents.getmember("run/offbeat").mode & 0o777 == 0o770


def test_it_is_small(image):
    (described,) = json.loads(podman("image", "inspect", image))
    assert described["Size"] < 20_000_000


def test_it_says_what_it_is(image):
    (described,) = json.loads(podman("image", "inspect", image))
    assert described["User"] == f"{USER}:{USER}"
    assert described["Healthcheck"]["Test"] == ["CMD", "/offbeat", "health"]
    version = podman("run", "--rm", *RESTRICTED, image, "--version").removeprefix("offbeat ")
    labels = described["Labels"]
    assert labels["org.opencontainers.image.version"] == version
    assert re.fullmatch("[0-9a-f]{40}", labels["org.opencontainers.image.revision"])
    assert labels["org.opencontainers.image.licenses"] == "Apache-2.0"


def layers(image: str) -> list[str]:
    (described,) = json.loads(podman("image", "inspect", image))
    return described["RootFS"]["Layers"]


def test_the_same_binary_gives_the_same_layers(image, contents, tmp_path):
    binary = tmp_path / "offbeat"
    binary.write_bytes(contents.extractfile("offbeat").read())
    again = f"{image}-again"
    checked("deploy/image/build.sh", again, OFFBEAT_STATIC_BIN=str(binary))
    try:
        assert layers(again) == layers(image)
    finally:
        podman("rmi", again)


def test_a_binary_that_needs_libraries_is_refused(image):
    refused = run("deploy/image/prepare.sh", OFFBEAT_STATIC_BIN=str(shutil.which("ls")))
    assert refused.returncode == 1
    assert "is not static" in refused.stderr


def test_the_bill_of_materials(contents):
    text = contents.extractfile("offbeat.cdx.json").read().decode()
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    bill = json.loads(text)
    versions = {part["name"]: part["version"] for part in bill["components"]}
    # Linked crates and other libraries, but not build dependencies or those of other systems.
    assert versions.keys() >= {"tokio", "tonic", "offbeat-core", "glibc", "rust-std"}
    assert not versions.keys() & {
        "tonic-prost-build",
        "proptest",
        "syn",
        "windows-sys",
        "libsqlite3-sys",
    }
    locked = (ROOT / "Cargo.lock").read_text()
    for part in bill["components"]:
        if "hashes" in part:
            assert f'checksum = "{part["hashes"][0]["content"]}"' in locked
    described = {part["bom-ref"] for part in [bill["metadata"]["component"], *bill["components"]]}
    assert len(described) == len(bill["components"]) + 1
    assert {entry["ref"] for entry in bill["dependencies"]} <= described


def test_the_licenses_are_there(contents):
    text = gzip.decompress(contents.extractfile("THIRD-PARTY-LICENSES.gz").read()).decode()
    for line in ("tokio ", "glibc ", "GNU LESSER GENERAL PUBLIC LICENSE"):
        assert line in text


def test_the_builders_folders_are_not_in_the_binary(contents):
    binary = contents.extractfile("offbeat").read()
    assert b"/.cargo/registry" not in binary
    assert str(ROOT).encode() + b"/server" not in binary


def test_the_image_of_several_stages_ends_as_the_tested_one():
    def last_stage(name: str) -> list[str]:
        text = (FOLDER / name).read_text().partition("FROM scratch\n")[2]
        return [line for line in text.splitlines() if not line.startswith(("#", "COPY"))]

    assert last_stage("Containerfile.multistage") == last_stage("Containerfile")


def test_what_the_build_reads_is_in_its_stage():
    """All files that cargo reads; .cargo sets the frame pointers."""
    stage = (FOLDER / "Containerfile.multistage").read_text().partition("FROM scratch\n")[0]
    copied = re.findall(r"^COPY (.+) \S+$", stage, re.MULTILINE)
    assert {name for line in copied for name in line.split()} == {
        *(".cargo", "Cargo.toml", "Cargo.lock", "LICENSE", "proto", "server", "deploy/image")
    }


# How it runs


def test_it_runs_without_any_right(sidecar):
    status = sidecar.status()
    assert {status[key] for key in status if key.startswith("Cap")} == {"0" * 16}
    assert set(status["Uid"].split() + status["Gid"].split()) == {str(USER)}
    assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")
    with pytest.raises(OSError, match="Read-only file system"):
        Path(f"/proc/{sidecar.pid()}/root/new").touch()


def test_it_has_no_shell(sidecar):
    for shell in ("sh", "/bin/sh", "/bin/bash", "/busybox"):
        assert sidecar.execute(shell, "-c", "true").returncode == 127


def test_its_probe(sidecar):
    assert sidecar.execute("/offbeat", "health").returncode == 0
    assert run("podman", "--runtime", "runc", "healthcheck", "run", sidecar.name).returncode == 0
    dead = sidecar.execute("/offbeat", "health", "--address", "127.0.0.1:1")
    assert dead.returncode == 1
    assert "127.0.0.1:1 is not serving" in dead.stderr


def memory_files(pid: int) -> tuple[Path, Path]:
    """Return the files with the memory limit and peak of a process (cgroups v1 or v2)."""
    groups = Path(f"/proc/{pid}/cgroup").read_text()
    if old := re.search(r"^\d+:memory:(.*)$", groups, re.MULTILINE):
        folder = Path("/sys/fs/cgroup/memory" + old.group(1))
        return folder / "memory.limit_in_bytes", folder / "memory.max_usage_in_bytes"
    (new,) = re.findall(r"^0::(.*)$", groups, re.MULTILINE)
    folder = Path("/sys/fs/cgroup" + new)
    return folder / "memory.max", folder / "memory.peak"


def test_it_answers_large_batches_in_32_mb(image):
    with Container(image) as container:
        limit, peak = memory_files(container.pid())
        assert int(limit.read_text()) == MEMORY, "the limit is not in force"
        before = container.pid()
        schedule = offbeat.Schedule(period=timedelta(hours=8))
        start = datetime(2026, 1, 1, tzinfo=timezone.utc)
        with offbeat.Client(container.address) as client:
            for _ in range(20):
                answers = client.assign_slots(schedule, range(65_536), from_time=start)
                assert len(answers) == 65_536
        assert container.pid() == before
        assert not container.inspect()["State"]["OOMKilled"]
        if peak.exists():  # newer kernels only
            print(f"peak of memory: {int(peak.read_text()) >> 10} KiB")


# Who may call it


@every_language
def test_clients_call_over_tcp(sidecar, language):
    assert call(language, sidecar.address) == SLOT


@pytest.fixture(scope="module")
def shared_folder() -> Iterator[Path]:
    """A folder for the socket, like a volume that two containers share; not in pytest's, which
    only root may enter."""
    with tempfile.TemporaryDirectory(prefix="offbeat-") as outer:
        os.chmod(outer, 0o755)
        folder = Path(outer) / "run"
        folder.mkdir()
        os.chown(folder, USER, USER)
        folder.chmod(0o770)
        yield folder


@pytest.fixture(scope="module")
def on_socket(image, shared_folder) -> Iterator[str]:
    options = [f"--env=OFFBEAT_LISTEN={SOCKET}", f"--volume={shared_folder}:/run/offbeat"]
    with Container(image, *options):
        yield f"unix:{shared_folder}/offbeat.sock"


@every_language
def test_clients_of_the_group_call_over_a_socket(on_socket, language):
    assert call(language, on_socket, *MEMBER) == SLOT


@every_language
def test_other_clients_may_not(on_socket, language):
    assert call(language, on_socket, *STRANGER) == "Unavailable"


@every_language
def test_the_socket_refuses_by_its_own_mode(on_socket, shared_folder, language):
    # A Kubernetes volume is open to all users; then the mode of the socket decides.
    shared_folder.chmod(0o777)
    try:
        assert call(language, on_socket, *STRANGER) == "Unavailable"
        assert call(language, on_socket, *MEMBER) == SLOT
    finally:
        shared_folder.chmod(0o770)


@pytest.fixture
def volume() -> Iterator[str]:
    name = podman("volume", "create")
    yield name
    podman("volume", "rm", "--force", name)


def test_a_new_volume_belongs_to_the_server(image, volume):
    options = [f"--env=OFFBEAT_LISTEN={SOCKET}", f"--volume={volume}:/run/offbeat"]
    with Container(image, *options):
        for (uid, gid), may in {MEMBER: True, STRANGER: False}.items():
            beside = [*RESTRICTED, f"--volume={volume}:/run/offbeat", f"--user={uid}:{gid}"]
            asked = run(
                *("podman", "--runtime", "runc", "run", "--rm", *beside, image),
                *("health", "--address", SOCKET),
            )
            assert (asked.returncode == 0) == may, asked.stderr


def test_it_comes_back_after_a_kill(image, volume):
    options = [f"--env=OFFBEAT_LISTEN={SOCKET}", f"--volume={volume}:/run/offbeat"]
    with Container(image, *options) as container:
        podman("kill", "--signal", "KILL", container.name)
        podman("wait", container.name)
    # The socket of the first container still exists.
    with Container(image, *options):
        pass


# How it ends


def test_sigterm_ends_it_at_once_when_idle(image):
    with Container(image) as container:
        started = time.monotonic()
        podman("stop", "--time", "10", container.name)
        assert time.monotonic() - started < 2
        assert container.inspect()["State"]["ExitCode"] == 0


def test_sigterm_ends_it_within_the_grace_period(image):
    grace = 2
    with Container(image, grace=grace) as container, offbeat.Client(container.address) as client:
        host, port = container.address.split(":")
        done = threading.Event()

        def unending() -> Iterator[int]:
            yield 1
            done.wait(30)

        def stream() -> None:
            schedule = offbeat.Schedule(period=timedelta(hours=8))
            with contextlib.suppress(offbeat.OffbeatError):
                list(client.stream_slot_assignments(schedule, unending()))

        streaming = threading.Thread(target=stream)
        streaming.start()
        with socket.create_connection((host, int(port))) as half_open:
            half_open.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
            time.sleep(0.5)  # until both are known to the server
            started = time.monotonic()
            podman("stop", "--time", "10", container.name)
            took = time.monotonic() - started
        done.set()
        streaming.join()
        assert grace - 0.5 < took < grace + 2, "the stream was not waited for, or for too long"
        assert container.inspect()["State"]["ExitCode"] == 0
