"""A web application that makes one call per request."""

from __future__ import annotations

import json
import time
from datetime import timedelta

import offbeat

EIGHT_HOURS = offbeat.Schedule(timedelta(hours=8))
client = offbeat.Client(timeout="web")


def app(environ, start_response):
    started = time.monotonic()
    try:
        outcome, status = client.assign_slot(EIGHT_HOURS, "acme").decided_by, "200 OK"
    except offbeat.NoAnswer as error:
        outcome, status = type(error).__name__, "503 Service Unavailable"
    body = json.dumps({"outcome": outcome, "seconds": time.monotonic() - started}).encode()
    start_response(status, [("Content-Type", "application/json")])
    return [body]
