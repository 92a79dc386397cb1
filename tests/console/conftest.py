"""The console of a real server in Debian's Chromium."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, sync_playwright
from support.server import Server

SCHEDULES = """
[[schedule]]
name = "bank-sync"
version = 1
period = "8h"
kinds = ["balance", "transactions"]

[[schedule]]
name = "newsletter"
version = 1
calendar = { unit = "day", time_zone = "Europe/Berlin" }
slot_count = 144
active_windows = ["01:00-05:00"]
salt = "newsletter"
"""


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = os.environ.get("OFFBEAT_CHROMIUM") or shutil.which("chromium")
    assert path, "there is no chromium: apt-get install chromium"
    with sync_playwright() as playwright:
        # Chromium's sandbox refuses to run as root, which CI does; the pages are our own.
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def sidecar(tmp_path_factory) -> Iterator[Server]:
    """A server with schedules, whose console may write."""
    schedules = tmp_path_factory.mktemp("console") / "schedules.toml"
    schedules.write_text(SCHEDULES)
    with Server("--schedules", str(schedules), "--console-write") as server:
        yield server


@pytest.fixture
def opened(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Opens a page, and fails the test if the page logs errors or warnings."""
    contexts, complaints = [], []

    def open_page(
        server: Server,
        path: str = "",
        width: int = 1400,
        scheme: str = "light",
        protocol: str = "http",
    ) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=scheme,
            timezone_id="America/New_York",
            ignore_https_errors=True,  # the tests have a certificate authority of their own
            permissions=["clipboard-read", "clipboard-write"],
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "console",
            lambda message: (
                # Some tests provoke refusals by the server.
                message.type in ("error", "warning")
                and "Failed to load resource" not in message.text
                and complaints.append(message.text)
            ),
        )
        page.goto(f"{protocol}://127.0.0.1:{server.admin_port}/{path}")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []
