"""Tasks for each account."""

from uuid import UUID

from django.tasks import task
from django.utils import timezone
from offbeat.django.tasks import recurring

from .models import Account


@recurring("bank", kind="balance", rows=lambda: Account.objects.filter(active=True))
@task
def sync_balance(account_id: UUID) -> None:
    """Sync the balance of an account, once per cycle."""
    Account.objects.filter(pk=account_id).update(balance_time=timezone.now())


@recurring("bank", kind="transactions", rows=Account)
@task
def sync_transactions(account_id: UUID) -> None:
    """Sync the transactions of an account, once per cycle."""
    Account.objects.filter(pk=account_id).update(transactions_time=timezone.now())


@task(backend="with_balance")
def send_statement(account_id: str) -> None:
    """Send a statement once, at the next sync of the account's balance."""
    Account.objects.filter(pk=account_id).update(statement_time=timezone.now())
