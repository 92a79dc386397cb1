"""Calls by JSON to a server with a token."""

from __future__ import annotations

import json
import urllib.request

from support.server import Server

TOKEN = "a-token-of-the-tests-0123456789"
ASKED = {"schedule": {"spec": {"period": "28800s"}}, "id": {"text": "acme"}}
LATE = {"scheduleName": "bank-sync", "latenessMillis": ["1500"]}
OPENED = {"spreadName": "mail", "spec": {"order": {"feederCount": 2}}}


def called(server: Server, method: str, message: dict) -> dict:
    """The answer to a call."""
    headers = {"content-type": "application/json", "authorization": f"Bearer {TOKEN}"}
    url = f"http://{server.address}/{method}"
    request = urllib.request.Request(url, json.dumps(message).encode(), headers)
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)
