"""The admin shows runs and declarations, changes neither, and has actions for those who may."""

from __future__ import annotations

from typing import Any


def client(*permissions: str) -> Any:
    from django.contrib.auth.models import Permission, User
    from django.test import Client

    User.objects.all().delete()
    user = User.objects.create_user("operator", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    web = Client()
    web.force_login(user)
    return web


VIEW = ("view_offbeatrun", "view_offbeatprogress")


def test_actions_need_permissions(alias: str) -> None:
    from crm.models import Account
    from django.conf import settings
    from django.test import override_settings
    from offbeat.django import jobs
    from offbeat.django.models import OffbeatProgress, OffbeatRun

    if alias != "default":
        return
    with override_settings(ALLOWED_HOSTS=["*"], OFFBEAT=settings.OFFBEAT):
        row = Account.objects.create()
        OffbeatRun.objects.all().delete()
        jobs.runner().plan(jobs.declarations()["balance"])
        jobs.run_now("balance", row.pk)
        run = OffbeatRun.objects.get(row_id=str(row.pk))
        pause = {"action": "pause", "_selected_action": ["balance"]}
        again = {"action": "run_again", "_selected_action": [run.pk]}
        web = client(*VIEW)
        assert b"balance" in web.get("/admin/offbeat/offbeatprogress/").content
        assert str(row.pk).encode() in web.get("/admin/offbeat/offbeatrun/").content
        assert web.get(f"/admin/offbeat/offbeatrun/{run.pk}/change/").status_code == 200
        assert web.get("/admin/offbeat/offbeatrun/add/").status_code == 403
        web.post("/admin/offbeat/offbeatprogress/", pause)
        web.post("/admin/offbeat/offbeatrun/", again)
        assert not OffbeatProgress.objects.get(pk="balance").paused
        assert OffbeatRun.objects.filter(row_id=str(row.pk)).count() == 1
        web = client(*VIEW, "change_offbeatprogress", "add_offbeatrun")
        web.post("/admin/offbeat/offbeatprogress/", pause)
        assert OffbeatProgress.objects.get(pk="balance").paused
        web.post("/admin/offbeat/offbeatprogress/", {**pause, "action": "resume"})
        assert not OffbeatProgress.objects.get(pk="balance").paused
        web.post("/admin/offbeat/offbeatrun/", again)
        assert OffbeatRun.objects.filter(row_id=str(row.pk)).count() == 2
