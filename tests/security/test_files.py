"""Token files that are being written, missing, or readable by others."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from support.server import Server
from support.waiting import within
from wire import ASSIGN_SLOT, HEALTH, ONE_ID, TOKEN, ask

#: The interval in seconds at which files are checked.
LOOK = 5
OTHER = "another-token-of-sixteen-or-more"


def status(server: Server, token: str) -> int:
    """The HTTP status of a call with a token."""
    return ask(server.port, ASSIGN_SLOT, ONE_ID, token=token).status


def reload(server: Server) -> None:
    """Makes the server check its files."""
    server.process.send_signal(signal.SIGHUP)


def test_a_pipe_stops_nothing(serve: Callable[..., Server], token_file: Path) -> None:
    server = serve("--token-file", str(token_file))
    token_file.unlink()
    os.mkfifo(token_file)
    reload(server)
    end = time.monotonic() + LOOK + 2
    while time.monotonic() < end:
        assert ask(server.port, HEALTH, b"{}", seconds=1).status == 200
        assert status(server, TOKEN) == 200
        time.sleep(0.2)
    assert server.is_alive()


def test_a_pipe_is_no_file_to_start_with(token_file: Path) -> None:
    token_file.unlink()
    os.mkfifo(token_file)
    with pytest.raises(AssertionError, match="did not start"):
        Server("--token-file", str(token_file))


@pytest.mark.parametrize("mode", [0o666, 0o644, 0o620, 0o602])
def test_files_of_others_are_warned_of(
    serve: Callable[..., Server], token_file: Path, mode: int
) -> None:
    token_file.chmod(mode)
    server = serve("--token-file", str(token_file))
    assert status(server, TOKEN) == 200  # by now it has read its files and logged the result
    warned = [line for line in server.lines() if line["level"] == "WARN"]
    assert any(str(token_file) in str(line) for line in warned), server.text()


@pytest.mark.parametrize("mode", [0o600, 0o400])
def test_files_of_ones_own_are_not(
    serve: Callable[..., Server], token_file: Path, mode: int
) -> None:
    token_file.chmod(mode)
    server = serve("--token-file", str(token_file))
    assert status(server, TOKEN) == 200
    assert not [line for line in server.lines() if line["level"] == "WARN"]


def test_a_token_that_is_being_written_is_not_taken(
    serve: Callable[..., Server], token_file: Path
) -> None:
    server = serve("--token-file", str(token_file))
    part = OTHER[:20]
    with token_file.open("w") as file:  # in place, as editors and shells do
        file.write(part)
        file.flush()
        reload(server)
        time.sleep(0.5)
        assert status(server, part) == 401
        assert status(server, TOKEN) == 200
        file.write(OTHER[20:] + "\n")
    reload(server)
    assert within(LOOK + 2, lambda: status(server, OTHER) == 200, 0.1)
    assert status(server, TOKEN) == 401


def test_a_missing_file_is_told_once(serve: Callable[..., Server], token_file: Path) -> None:
    server = serve("--token-file", str(token_file))
    before = len(server.lines())
    token_file.unlink()
    reload(server)
    time.sleep(2 * LOOK + 2)
    assert status(server, TOKEN) == 200
    told = [line for line in server.lines()[before:] if line["level"] in ("WARN", "ERROR")]
    assert len(told) == 1, told
    refused = server.metric("offbeat_reloads_total", what="tokens", result="refused")
    assert refused == 1
    token_file.write_text(OTHER + "\n")
    reload(server)
    assert within(LOOK + 2, lambda: status(server, OTHER) == 200, 0.1)


@pytest.mark.parametrize("what", ["tokens", "schedules"])
def test_a_signal_tries_again(
    serve: Callable[..., Server], token_file: Path, tmp_path: Path, what: str
) -> None:
    """An unchanged file that was refused is refused again when a reload is requested."""
    schedules = tmp_path / "schedules.toml"
    schedules.write_text('[[schedule]]\nname = "a"\nversion = 1\nperiod = "1d"\nslot_count = 24\n')
    server = serve("--token-file", str(token_file), "--schedules", str(schedules))
    (token_file if what == "tokens" else schedules).write_text("x\n")
    count = lambda: server.metric("offbeat_reloads_total", what=what, result="refused")  # noqa: E731
    reload(server)
    assert within(LOOK, lambda: count() == 1, 0.1)
    reload(server)
    assert within(LOOK - 2, lambda: count() == 2, 0.1), count()
