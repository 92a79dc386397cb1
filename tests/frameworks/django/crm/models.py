"""Models with keys of each type."""

import uuid

from django.db import models
from offbeat.django import OffbeatHashField, OffbeatIndex, OffbeatManager


class Account(models.Model):
    """A key that is a UUID."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    active = models.BooleanField(default=True)

    objects = OffbeatManager()

    class Meta:
        indexes = [OffbeatIndex(name="account_offbeat")]


class OldAccount(Account):
    """The same rows by another name."""

    class Meta:
        proxy = True


class Savings(Account):
    """A table of its own beside that of its parent."""

    rate = models.IntegerField(default=0)


class Transfer(models.Model):
    """A row that belongs to an account."""

    account = models.ForeignKey(Account, models.CASCADE)


class Ticket(models.Model):
    """A key that the database generates."""

    objects = OffbeatManager()

    class Meta:
        indexes = [OffbeatIndex(name="ticket_offbeat")]


class Bare(models.Model):
    """A model without anything of Offbeat."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4)

    objects = OffbeatManager()


class Device(models.Model):
    """A key with its hash, which SQLite can use."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    offbeat_hash = OffbeatHashField()

    objects = OffbeatManager()

    class Meta:
        indexes = [OffbeatIndex(name="device_offbeat")]


class Customer(models.Model):
    """IDs that are text, in another column than the key."""

    code = models.CharField(max_length=40, unique=True)

    objects = OffbeatManager()

    class Meta:
        indexes = [OffbeatIndex(name="customer_offbeat", field="code")]
