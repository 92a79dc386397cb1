"""Pauses a declaration."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from ._base import OffbeatCommand, declared


class Command(OffbeatCommand):
    """Pauses a declaration."""

    help = "Plan and publish nothing of a declaration until it is resumed."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the name of the declaration."""
        parser.add_argument("name", help="the declaration")

    def handle(self, *args: Any, **options: Any) -> None:
        """Pause the declaration."""
        chosen, declaration = declared(options["name"])
        chosen.pause(declaration.name, True)
        self.stdout.write(f"{declaration.name} is paused")
