"""Tasks that run for each account once per cycle."""

from uuid import UUID

from django.utils import timezone
from offbeat.celery import recurring_task

from .models import Account


@recurring_task("bank", kind="balance", rows=lambda: Account.objects.filter(active=True))
def sync_balance(account_id: UUID) -> None:
    """Sync the balance of an account."""
    Account.objects.filter(pk=account_id).update(balance_time=timezone.now())


@recurring_task("bank", kind="transactions", rows=Account)
def sync_transactions(account_id: UUID) -> None:
    """Sync the transactions of an account."""
    Account.objects.filter(pk=account_id).update(transactions_time=timezone.now())
