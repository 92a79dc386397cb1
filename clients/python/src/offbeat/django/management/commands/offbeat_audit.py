"""Says how evenly rows fill the slots."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from ._base import OffbeatCommand, declared

_MOST = 65_536


class Command(OffbeatCommand):
    """Audits the IDs of a declaration, up to 65,536 of them; a sidecar is needed."""

    help = "Say how evenly the rows of a declaration fill the slots (asks the sidecar)."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the name of the declaration."""
        parser.add_argument("name", help="the declaration")

    def handle(self, *args: Any, **options: Any) -> None:
        """Audit the IDs, and print the result."""
        chosen, declaration = declared(options["name"])
        ids = declaration.rows.page(None, _MOST)
        audit = chosen.client.audit_ids(
            declaration.schedule, ids, kind=declaration.kind, timeout=10
        )
        self.stdout.write(
            f"{len(ids)} rows: the fullest slot, {audit.fullest_slot_index}, has "
            f"{audit.fullest_load:g}, {audit.fullest_to_mean_ratio:.2f} times the mean"
        )
        for warning in audit.warnings:
            self.stdout.write(f"warning: {warning.message}")
