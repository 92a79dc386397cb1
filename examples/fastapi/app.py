"""A web application that says when an account runs next, even while no sidecar answers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import offbeat
from fastapi import FastAPI, Request

EVERY_8_HOURS = offbeat.Schedule(timedelta(hours=8))


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Hold one client for all requests; it connects when it first needs a sidecar."""
    async with offbeat.AsyncClient(mode="auto", timeout="web") as client:
        app.state.offbeat = client
        yield


app = FastAPI(lifespan=lifespan)


@app.get("/accounts/{account_id}/next-run")
async def next_run(account_id: str, request: Request) -> dict[str, str]:
    """Say when an account runs next, and who decided."""
    client: offbeat.AsyncClient = request.app.state.offbeat
    assignment = await client.assign_slot(EVERY_8_HOURS, account_id)
    return {
        "next_run": assignment.next_run.start_time.isoformat(),
        "decided_by": assignment.decided_by,
    }
