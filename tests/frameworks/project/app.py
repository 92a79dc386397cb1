"""The Celery app."""

import os

import offbeat.celery
from celery import Celery
from offbeat import Client, LatenessRecorder

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "settings")

app = Celery("bank")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
lateness = None
if "LATENESS_INTERVAL" in os.environ:
    lateness = LatenessRecorder(
        client=Client(os.environ["OFFBEAT_ADDRESS"]),
        interval=float(os.environ["LATENESS_INTERVAL"]),
    )
integration = offbeat.celery.setup(app, lateness=lateness)
