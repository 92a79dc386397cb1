"""Accounts whose balance and transactions are synced."""

import uuid

from django.db import models
from offbeat.django import OffbeatIndex, OffbeatManager


class Account(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    active = models.BooleanField(default=True)
    balance_time = models.DateTimeField(null=True)
    transactions_time = models.DateTimeField(null=True)

    objects = OffbeatManager()

    class Meta:
        indexes = [OffbeatIndex(name="account_offbeat")]
