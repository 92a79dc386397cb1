"""Draws how many runs start in the next hours."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.core.management.base import CommandParser

from offbeat.runner.forecasts import forecast

from ...jobs import runner
from ._base import OffbeatCommand

#: The length of the longest bar, in characters.
_WIDTH = 50


class Command(OffbeatCommand):
    """Counts the runs of the next hours, and draws them."""

    help = "Draw how many runs start in the next hours."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the number of hours to draw, and the minutes of each bar."""
        parser.add_argument("--hours", type=float, default=24, help="how far ahead [default: 24]")
        parser.add_argument("--minutes", type=float, default=60, help="of a bar [default: 60]")

    def handle(self, *args: Any, **options: Any) -> None:
        """Draw the runs of each declaration."""
        chosen = runner()
        start = chosen.store.now()
        step = timedelta(minutes=options["minutes"])
        bars = max(1, round(timedelta(hours=options["hours"]) / step))
        for declaration in chosen.declarations.values():
            counts = forecast(chosen.client, declaration, start, step, bars)
            most = max([*counts, 1])
            self.stdout.write(f"{declaration.name}: {sum(counts)} runs")
            for index, count in enumerate(counts):
                at = (start + index * step).strftime("%Y-%m-%d %H:%M")
                bar = "#" * round(count * _WIDTH / most)
                self.stdout.write(f"  {at} {count:>8} {bar}")
