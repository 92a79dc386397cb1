"""The server under attack: a process like any other, with the default format of its log."""

from __future__ import annotations

import http.client
import json
import re
import time

import support.server


class Server(support.server.Server):
    """A server with default settings; figures are measured without a raised priority."""

    log_flags = ()

    def __init__(self, *flags: str, files: int | None = None) -> None:
        super().__init__(*flags, priority=0, files=files)

    def addresses(self) -> list[str]:
        return re.findall(
            r"(?:listening|metrics and probes).* address=(127\.0\.0\.1:\d+)\s", self.text()
        )

    def cpu_share(self, seconds: float) -> float:
        """The share of one core that it uses, measured over `seconds`."""
        before, started = self.cpu_seconds(), time.monotonic()
        time.sleep(seconds)
        return (self.cpu_seconds() - before) / (time.monotonic() - started)

    def is_serving(self, seconds: float = 5) -> bool:
        """Whether it answers a health check on a new connection in time."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds)
        try:
            sent = {"content-type": "application/json"}
            connection.request("POST", "/grpc.health.v1.Health/Check", "{}", sent)
            return json.load(connection.getresponse()).get("status") == "SERVING"
        except (OSError, http.client.HTTPException, ValueError):
            return False
        finally:
            connection.close()
