"""What the commands share."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.dateparse import parse_datetime

from offbeat.errors import OffbeatError
from offbeat.runner import Declaration, Runner

from ...jobs import runner


class OffbeatCommand(BaseCommand):
    """A command whose refusals are no stack traces."""

    def execute(self, *args: Any, **options: Any) -> Any:
        """Say errors of Offbeat as the command's."""
        try:
            return super().execute(*args, **options)
        except OffbeatError as error:
            raise CommandError(str(error)) from error


def declared(name: str) -> tuple[Runner, Declaration[Any]]:
    """Return a runner, and the declaration of a name."""
    chosen = runner()
    if name not in chosen.declarations:
        known = ", ".join(sorted(chosen.declarations)) or "none"
        raise CommandError(f"{name} is not declared: there are {known}")
    return chosen, chosen.declarations[name]


def instant(text: str) -> datetime:
    """Read an instant, in UTC unless it says otherwise."""
    found = parse_datetime(text)
    if found is None:
        raise CommandError(f"{text!r} is no time such as 2026-01-01T00:00:00Z")
    return found if found.tzinfo is not None else found.replace(tzinfo=timezone.utc)
