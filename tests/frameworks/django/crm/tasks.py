"""Jobs, which tests look at."""

from typing import Any

from offbeat.django import recurring

from .models import Account

DONE: list[Any] = []


@recurring("bank", kind="balance", rows=lambda: Account.objects.filter(active=True), name="balance")
def balance(account_id: Any) -> None:
    """Note the account."""
    DONE.append(("balance", account_id))


@recurring("bank", kind="transactions", rows=Account, name="transactions")
def transactions(account_id: Any) -> None:
    """Note the account."""
    DONE.append(("transactions", account_id))
