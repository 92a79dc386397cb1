"""Deletes runs that ended long ago."""

from __future__ import annotations

from typing import Any

from ...jobs import runner
from ._base import OffbeatCommand


class Command(OffbeatCommand):
    """Deletes runs that ended longer ago than their declaration keeps them."""

    help = "Delete runs that ended longer ago than declarations keep them (two cycles)."

    def handle(self, *args: Any, **options: Any) -> None:
        """Delete the runs, and print how many there were."""
        self.stdout.write(f"{runner().prune()} runs are deleted")
