"""The project: with it, its app of Celery is loaded."""

from .celery import app as celery_app

__all__ = ["celery_app"]
