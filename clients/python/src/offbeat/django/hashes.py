"""A column with the hash of the IDs, for SQLite."""

from __future__ import annotations

import hashlib
from typing import Any

from django.core import checks
from django.db import models

from .targets import id_field, stored_field


class OffbeatHashField(models.CharField):  # type: ignore[type-arg]
    """The hash of a row's ID, set on save. SQLite, which has no MD5, needs it to find due rows.

    ``of`` is the field with the IDs, and ``salt`` the salt of the schedules. As long as a row has
    no hash, as after the migration that adds the field, ticks read all IDs; saving the rows sets
    it::

        offbeat_hash = OffbeatHashField()
    """

    description = "The hash of an ID"

    def __init__(self, *, of: str = "pk", salt: str = "", **options: Any) -> None:
        """Set the field with the IDs, which must be known before a row is inserted."""
        self.of, self.salt = of, salt
        options.update(max_length=16, null=True, editable=False)
        options.setdefault("db_index", True)
        super().__init__(**options)

    def deconstruct(self) -> Any:
        """Return what a migration stores."""
        name, _, arguments, options = super().deconstruct()
        for always in ("max_length", "null", "editable"):
            options.pop(always, None)
        if options.pop("db_index", False) is False:
            options["db_index"] = False
        else:
            options.pop("db_index", None)
        options.update(of=self.of, salt=self.salt)
        return name, "offbeat.django.OffbeatHashField", arguments, options

    def check(self, **options: Any) -> list[checks.CheckMessage]:
        """Refuse IDs that the database generates: they are not known before a row is inserted."""
        found = super().check(**options)
        if isinstance(stored_field(self.model, self.of), models.AutoField):
            message = f"The IDs of {self.of!r} are counted by the database, and cannot be hashed."
            hint = "Name another field with of=, such as a UUIDField."
            found.append(checks.Error(message, hint=hint, obj=self, id="offbeat.E006"))
        return found

    def pre_save(self, model_instance: Any, add: bool) -> str | None:
        """Hash the ID."""
        field = id_field(self.model, self.of)
        row_id = getattr(model_instance, stored_field(self.model, self.of).attname)
        digits = None
        if row_id is not None:
            text = f"{self.salt}{field.to_python(row_id)}"
            digits = hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()[:16]
        setattr(model_instance, self.attname, digits)
        return digits


def hash_field(model: type[models.Model], of: str) -> OffbeatHashField | None:
    """Return the field of a model that holds the hash of the field ``of``, if there is one."""
    hashed = stored_field(model, of)
    for field in model._meta.get_fields():
        if isinstance(field, OffbeatHashField) and stored_field(model, field.of) is hashed:
            return field
    return None
