"""Runs declared jobs, or hands them to the workers of ``django.tasks``."""

from __future__ import annotations

import signal
import threading
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import close_old_connections

from offbeat.runner import Runner, StoredRun, ThreadQueue

from ...conf import get_client, interval
from ...jobs import recurrences
from ...store import get_store
from ._base import OffbeatCommand


class Command(OffbeatCommand):
    """Plans and runs what ``recurring`` declares, until it is stopped."""

    help = "Run recurring jobs in this process, and enqueue recurring tasks, until it is stopped."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the number of threads and, for tests, a time after which to stop."""
        parser.add_argument("--threads", type=int, default=4, help="jobs at a time [default: 4]")
        parser.add_argument("--seconds", type=float, help="stop after so long")

    def handle(self, *args: Any, **options: Any) -> None:
        """Tick and run until a signal stops the command."""
        declared = {found.declaration(name): found for name, found in recurrences().items()}
        if not declared:
            raise CommandError("no job is declared: see offbeat.django.recurring")
        stop = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stop.set())
        if options["seconds"] is not None:
            timer = threading.Timer(options["seconds"], stop.set)
            timer.daemon = True
            timer.start()
        store = get_store()
        queue = ThreadQueue(
            store,
            {
                declaration: _own_connection(found.job)
                for declaration, found in declared.items()
                if found.job is not None
            },
            thread_count=options["threads"],
        )
        tasks = {
            declaration.name: found.task
            for declaration, found in declared.items()
            if found.task is not None
        }
        publisher = _Publisher(queue, tasks)
        runner = Runner(declared, store, publisher, client=get_client(), interval=interval())
        runner.check()
        for declaration in declared:
            self.stdout.write(f"{declaration.name} runs every cycle of its schedule")
        ticks = 0
        while not stop.is_set():
            close_old_connections()
            runner.run_once()
            if ticks % 60 == 0:
                runner.prune()
            ticks += 1
            stop.wait(min(runner.interval, timedelta(minutes=1)).total_seconds())
        queue.close()


class _Publisher:
    """Hands the runs of functions to this process's threads, and those of tasks to backends."""

    def __init__(self, queue: ThreadQueue, tasks: dict[str, Any]) -> None:
        self._queue, self._tasks = queue, tasks

    def publish(self, runs: Sequence[StoredRun]) -> None:
        of_tasks = [run for run in runs if run.declaration in self._tasks]
        if of_tasks:
            from ...tasks.recurrence import send  # needs Django 6

            send(self._tasks, of_tasks)
        self._queue.publish([run for run in runs if run.declaration not in self._tasks])


def _own_connection(job: Any) -> Any:
    def run(row_id: Any) -> None:
        close_old_connections()
        try:
            job(row_id)
        finally:
            close_old_connections()

    return run
