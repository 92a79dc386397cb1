"""The Celery app."""

import os

import offbeat.celery
from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "bank.settings")

app = Celery("bank")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
offbeat.celery.setup(app)
