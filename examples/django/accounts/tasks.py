"""Tasks that run for each account once per cycle."""

from uuid import UUID

from django.utils import timezone
from offbeat.django import recurring

from .models import Account


@recurring("bank", kind="balance", rows=lambda: Account.objects.filter(active=True))
def sync_balance(account_id: UUID) -> None:
    """Sync the balance of an account."""
    Account.objects.filter(pk=account_id).update(balance_time=timezone.now())


@recurring("bank", kind="transactions", rows=Account)
def sync_transactions(account_id: UUID) -> None:
    """Sync the transactions of an account."""
    Account.objects.filter(pk=account_id).update(transactions_time=timezone.now())
