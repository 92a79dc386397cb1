"""A server that has handled each kind of event, and the metrics that it exposes."""

from __future__ import annotations

import signal

import pytest
from calls import ASKED, LATE, OPENED, TOKEN, called
from exposition import Exposed
from support.redis_server import RedisServer
from support.server import ROOT, Server
from support.waiting import within


def reload(server: Server) -> None:
    """Makes the server reload its files, after one of them has changed."""
    reloads = lambda: len([line for line in server.lines() if "what" in line])  # noqa: E731
    before = reloads()
    server.process.send_signal(signal.SIGHUP)
    assert within(10, lambda: reloads() > before), server.text()


@pytest.fixture(scope="session")
def scraped(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of metrics, after each kind of event."""
    token_file = tmp_path_factory.mktemp("scraped") / "token"
    token_file.write_text(f"{TOKEN}\n")
    schedules = ROOT / "deploy" / "schedules" / "schedules.toml"
    redis = RedisServer(tmp_path_factory.mktemp("redis") / "data")
    store = f"redis://127.0.0.1:{redis.port}"
    flags = ["--token-file", str(token_file), "--schedules", str(schedules)]
    with Server(*flags, "--spread-store", store) as server:
        answer = called(server, "offbeat.v1.SlotService/AssignSlot", ASKED)
        assert answer["pieces"][0]["slotIndex"] >= 0
        answer = called(server, "offbeat.v1beta1.LatenessService/RecordLateness", LATE)
        assert answer == {"hasOwnSeries": True}
        called(server, "offbeat.v1.NamedSpreadService/OpenSpread", OPENED)
        for content in (f"{TOKEN}-of-tomorrow\n", "not a token\n"):
            token_file.write_text(content)
            reload(server)
        text = server.look("/metrics")
    redis.kill()
    return text


@pytest.fixture(scope="session")
def exposed(scraped: str) -> Exposed:
    """The same page, parsed."""
    return Exposed(scraped)
