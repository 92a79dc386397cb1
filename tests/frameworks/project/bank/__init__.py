"""An app of Django, whose tasks are those of the app of Celery."""

from app import app as celery_app

__all__ = ["celery_app"]
