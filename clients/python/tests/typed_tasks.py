"""For type checkers alone: the types of recurring tasks. An unnecessary ignore is an error."""

# pyright: reportUnnecessaryTypeIgnoreComment=true

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from offbeat import Schedule
from offbeat.celery import recurring_task


@recurring_task(Schedule(timedelta(hours=8)), rows=list[UUID](), id_type=UUID, acks_late=True)
def sync(account_id: UUID, *, force: bool = False) -> int:
    """Sync an account."""
    return 1


def check() -> None:
    """Exist for the type checker; never called."""
    result: int = sync(UUID(int=1), force=True)
    sync.delay(UUID(int=1))
    sync.apply_async((UUID(int=1),), countdown=5)
    name: str = sync.name

    sync(1)  # type: ignore[arg-type]
    sync.delay(UUID(int=1), force="yes")  # type: ignore[arg-type]
    wrong: str = sync(UUID(int=1))  # type: ignore[assignment]
