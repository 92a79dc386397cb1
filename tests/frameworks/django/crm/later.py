"""Tasks of django.tasks, as a site declares them; Django 6 alone has them."""

from typing import Any

from django.tasks import task
from offbeat.django.tasks import recurring

from .models import Account

done: list[Any] = []
failing: set[Any] = set()


@recurring("bank", kind="balance", rows=lambda: Account.objects.filter(active=True), name="later")
@task
def sync(account_id: Any) -> str:
    """Note the account."""
    done.append(account_id)
    if account_id in failing:
        raise RuntimeError("the bank is closed")
    return f"synced {account_id}"


@recurring("bank", kind="transactions", rows=Account, name="in_context")
@task(takes_context=True, priority=7)
def sync_in_context(context: Any, account_id: Any) -> None:
    """Note the context and the account."""
    done.append((context, account_id))


@task
def remind(account_id: Any, text: str = "") -> None:
    """Do nothing."""


@task(takes_context=True)
def remind_in_context(context: Any, account_id: Any) -> None:
    """Do nothing."""


@task
def clean_up() -> None:
    """Do nothing."""
