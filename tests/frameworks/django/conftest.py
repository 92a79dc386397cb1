"""Django in this process, on three databases."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import django
import pytest
from django.conf import settings
from support.databases import MariaDb, PostgreSql

ALIASES = ("default", "postgresql", "mariadb")


@pytest.fixture(scope="session")
def databases() -> Iterator[None]:
    """Start the servers, and make the tables."""
    # Not in pytest's folder, which only its user may enter; and socket paths must be short.
    folder = Path(tempfile.mkdtemp(prefix="offbeat-"))
    folder.chmod(0o755)
    postgresql, mariadb = PostgreSql(folder / "pg"), MariaDb(folder / "maria")
    postgresql.run("CREATE DATABASE crm")
    mariadb.run("CREATE DATABASE crm CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")
    import pymysql

    pymysql.install_as_MySQLdb()
    pymysql.version_info = (2, 2, 4, "final", 0)  # the version that Django requires
    options = {"OPTIONS": {"timeout": 30}}
    mysql = {"ENGINE": "django.db.backends.mysql", "HOST": mariadb.socket, "USER": "root"}
    pg = {"ENGINE": "django.db.backends.postgresql", "HOST": str(folder / "pg"), "USER": "postgres"}
    file = folder / "crm.sqlite3"
    settings.configure(
        SECRET_KEY="of the tests",
        USE_TZ=True,
        ROOT_URLCONF="crm.urls",
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
        INSTALLED_APPS=[
            "django.contrib.admin",
            "django.contrib.auth",
            "django.contrib.contenttypes",
            "django.contrib.messages",
            "django.contrib.sessions",
            "offbeat.django",
            "crm",
        ],
        MIDDLEWARE=[
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
            "django.contrib.messages.middleware.MessageMiddleware",
        ],
        TEMPLATES=[
            {
                "BACKEND": "django.template.backends.django.DjangoTemplates",
                "APP_DIRS": True,
                "OPTIONS": {
                    "context_processors": [
                        "django.template.context_processors.request",
                        "django.contrib.auth.context_processors.auth",
                        "django.contrib.messages.context_processors.messages",
                    ]
                },
            }
        ],
        DATABASES={
            "default": {"ENGINE": "django.db.backends.sqlite3", "NAME": file, **options},
            "postgresql": {**pg, "NAME": "crm"},
            "mariadb": {**mysql, "NAME": "crm"},
        },
        OFFBEAT={
            "MODE": "local",
            "SCHEDULES": {
                "bank": {"period": "8h", "slot_count": 30, "kinds": ["balance", "transactions"]}
            },
        },
    )
    django.setup()
    from django.core.management import call_command
    from django.db import connections

    for alias in ALIASES:
        call_command("migrate", database=alias, run_syncdb=True, verbosity=0)
    yield
    connections.close_all()
    postgresql.stop()
    mariadb.stop()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=ALIASES)
def alias(request: pytest.FixtureRequest, databases: None) -> Iterator[str]:
    """Return a database, without rows."""
    from crm import models
    from django.test import override_settings
    from offbeat.django.models import OffbeatProgress, OffbeatRun

    using = request.param
    with override_settings(OFFBEAT={**settings.OFFBEAT, "USING": using}):
        yield using
    for model in (
        models.Transfer,
        models.Savings,
        models.Account,
        models.Ticket,
        models.Customer,
        models.Bare,
        models.Device,
        OffbeatRun,
        OffbeatProgress,
    ):
        model.objects.using(using).all().delete()
