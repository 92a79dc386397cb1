"""Runs a real Celery: starts and kills brokers, workers and beats, and reads their output."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from support.ledgers import whole_lines

PROJECT = Path(__file__).parent / "project"
CELERY = Path(sys.executable).with_name("celery")


class Bank:
    """The project, with its processes."""

    def __init__(self, folder: Path, pghost: str, broker: str, **environment: str) -> None:
        self.folder, self.ledger_file = folder, folder / "ledger"
        self.environment = {
            **os.environ,
            "PGHOST": pghost,
            "BROKER": broker,
            "LEDGER": str(self.ledger_file),
            "PYTHONPATH": str(PROJECT),
            "DJANGO_SETTINGS_MODULE": "settings",
            **environment,
        }
        self._processes: list[subprocess.Popen[bytes]] = []
        self._logs: dict[subprocess.Popen[bytes], Path] = {}
        self._number = 0

    def manage(self, *arguments: str, check: bool = True) -> str:
        """Run a command of Django."""
        result = subprocess.run(
            [sys.executable, PROJECT / "manage.py", *arguments],
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert not check or result.returncode == 0, result.stdout + result.stderr
        return result.stdout + result.stderr

    def shell(self, code: str) -> Any:
        """Run code in the project, and return the JSON that it prints last."""
        imports = "import json\nfrom bank.models import *\nfrom offbeat.django.models import *\n"
        return json.loads(self.manage("shell", "-v0", "-c", imports + code).splitlines()[-1])

    def celery(self, *arguments: str, **environment: str) -> subprocess.Popen[bytes]:
        """Start a process of Celery, in a group of its own."""
        self._number += 1
        path = self.folder / f"{arguments[0]}-{self._number}.log"
        with path.open("wb") as log:
            process = subprocess.Popen(
                [CELERY, "-A", "app", *arguments],
                env={**self.environment, **environment},
                cwd=self.folder,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._processes.append(process)
        self._logs[process] = path
        return process

    def worker(self, *arguments: str, **environment: str) -> subprocess.Popen[bytes]:
        """Start a worker."""
        self._number += 1
        name = f"w{self._number}@%h"
        return self.celery("worker", "-l", "INFO", "-n", name, *arguments, **environment)

    def beat(self, *arguments: str, **environment: str) -> subprocess.Popen[bytes]:
        """Start a beat, by default with its own file."""
        self._number += 1
        arguments = arguments or ("-s", str(self.folder / f"schedule-{self._number}"))
        return self.celery("beat", "-l", "INFO", *arguments, **environment)

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """Kill a process and its children with SIGKILL."""
        if process in self._processes:
            self._processes.remove(process)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def stop(self) -> None:
        """Kill all."""
        for process in list(self._processes):
            self.kill(process)

    def ledger(self) -> list[dict[str, Any]]:
        """Return the lines that jobs have written."""
        return [json.loads(line) for line in whole_lines(self.ledger_file)]

    def log(self, process: subprocess.Popen[bytes]) -> str:
        """Return the log of a process."""
        return self._logs[process].read_text()

    def logs(self) -> str:
        """Return the ends of all logs."""
        logs = sorted(self.folder.glob("*.log"))
        return "\n".join(f"{log.name}:\n{log.read_text()[-3000:]}" for log in logs)


def rows_done(bank: Bank, after: datetime | None = None) -> int:
    """Return how many pairs of row and kind have had a run, scheduled for later than a time."""
    return len(
        {
            (line["row"], line["kind"])
            for line in bank.ledger()
            if after is None or datetime.fromisoformat(line["scheduled"]) > after
        }
    )
