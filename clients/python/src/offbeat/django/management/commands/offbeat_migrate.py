"""Changes a declaration to its new schedule."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from ._base import OffbeatCommand, declared, instant


class Command(OffbeatCommand):
    """Sets the instant from which a declaration runs by its new schedule."""

    help = "Let a declaration go over from its previous_schedule to its schedule."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the name of the declaration, and the cutover."""
        parser.add_argument("name", help="the declaration")
        parser.add_argument("--cutover", required=True, help="when, such as 2026-01-01T00:00:00Z")

    def handle(self, *args: Any, **options: Any) -> None:
        """Set the cutover."""
        chosen, declaration = declared(options["name"])
        progress = chosen.cut_over(declaration.name, instant(options["cutover"]))
        assert progress.cutover_time is not None
        self.stdout.write(
            f"{declaration.name} runs by {progress.schedule} until "
            f"{progress.cutover_time.isoformat()}, then by {progress.next_schedule}"
        )
