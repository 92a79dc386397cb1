"""Callers receive a refusal even if most of their message is not sent yet."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from support.server import Server
from wire import ASSIGN_SLOT, ASSIGN_SLOTS, TOKEN

TRIES = 200
MESSAGE = b"{" + b" " * (4_000_000 - 2) + b"}"
BEARER = f"Bearer {TOKEN}"
#: Path, token, status, code.
REFUSED = {
    "no method": ("/offbeat.v1.SlotService/NoMethod", BEARER, 404, "unimplemented"),
    "no token": (ASSIGN_SLOTS, None, 401, "unauthenticated"),
    "a wrong token": (ASSIGN_SLOTS, "Bearer sixteen-letters-and-more", 401, "unauthenticated"),
    "too large": (ASSIGN_SLOT, BEARER, 429, "resource_exhausted"),
}


@pytest.mark.parametrize("is_framed", [True, False], ids=["length", "chunks"])
@pytest.mark.parametrize("what", REFUSED)
def test_refusals_reach_clients(
    serve: Callable[..., Server], token_file: Path, what: str, is_framed: bool
) -> None:
    path, token, status, code = REFUSED[what]
    server = serve("--token-file", str(token_file))
    headers = {"content-type": "application/json", **({"authorization": token} if token else {})}
    seen: dict[str, int] = {}
    for _ in range(TRIES if is_framed else TRIES // 4):
        # Like most clients, this one sends the whole message before it reads.
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
        chunks = iter(MESSAGE[at : at + 65_536] for at in range(0, len(MESSAGE), 65_536))
        try:
            connection.request("POST", path, MESSAGE if is_framed else chunks, headers)
            answer = connection.getresponse()
            heard = f"{answer.status} {json.load(answer)['code']}"
        except (OSError, http.client.HTTPException) as error:
            heard = type(error).__name__
        finally:
            connection.close()
        seen[heard] = seen.get(heard, 0) + 1
    assert list(seen) == [f"{status} {code}"], seen
