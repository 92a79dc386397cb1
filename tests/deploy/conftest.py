from __future__ import annotations

from collections.abc import Iterator

import pytest
from containers import Container, checked, podman, what_is_missing

IMAGE = "localhost/offbeat:test"


@pytest.fixture(scope="session")
def image() -> str:
    """Build the image with the command that users run."""
    if missing := what_is_missing():
        pytest.fail(f"the image cannot be tested: {missing}")
    checked("deploy/image/build.sh", IMAGE, timeout=1800)
    probe = podman(
        "run",
        "--rm",
        "--ulimit=nofile=1024:1024",
        "--ulimit=nproc=1024:1024",
        "--network=host",
        IMAGE,
        "--version",
    )
    assert probe.startswith("offbeat "), probe
    return IMAGE


@pytest.fixture(scope="session")
def sidecar(image: str) -> Iterator[Container]:
    with Container(image) as container:
        yield container
