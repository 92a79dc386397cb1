"""Plans the runs of one tick, or counts them."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from offbeat.runner.forecasts import forecast

from ...jobs import runner
from ._base import OffbeatCommand


class Command(OffbeatCommand):
    """Plans what the next tick would plan; with ``--dry-run``, only counts it."""

    help = "Plan the runs of the next minutes, for the queue's next tick to publish."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add ``--dry-run``."""
        parser.add_argument("--dry-run", action="store_true", help="only say what would be planned")

    def handle(self, *args: Any, **options: Any) -> None:
        """Plan the runs, or print how many there would be."""
        chosen = runner()
        known = {progress.declaration: progress for progress in chosen.store.progress()}
        now = chosen.store.now()
        for name, declaration in chosen.declarations.items():
            progress = known.get(name)
            start = now if progress is None else progress.watermark_time
            if progress is not None and progress.paused:
                self.stdout.write(f"{name}: paused, and planned until {start.isoformat()}")
            elif options["dry_run"]:
                span = now + chosen.look_ahead - start
                counts = forecast(chosen.client, declaration, start, span, 1) if span else [0]
                self.stdout.write(f"{name}: {counts[0]} runs would be planned")
            else:
                self.stdout.write(f"{name}: {chosen.plan(declaration)} runs are planned")
