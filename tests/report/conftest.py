from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from opened import SCREENSHOTS, page_of, simulated
from playwright.sync_api import sync_playwright
from samples import SAMPLES
from scenarios import NIGHTLY, OUTAGE


@pytest.fixture(scope="session")
def browser():
    path = os.environ.get("OFFBEAT_CHROMIUM") or shutil.which("chromium")
    assert path, "there is no chromium: apt-get install chromium"
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        # Chromium's sandbox refuses to run as root, which CI does; the pages are our own.
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def pages(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    result = {}
    for name, sample in SAMPLES.items():
        result[name] = folder / f"{name}.html"
        result[name].write_text(page_of(sample()))
    return result


@pytest.fixture(scope="session")
def outage(tmp_path_factory):
    return simulated(tmp_path_factory.mktemp("outage"), OUTAGE)


@pytest.fixture(scope="session")
def nightly(tmp_path_factory):
    return simulated(tmp_path_factory.mktemp("nightly"), NIGHTLY)[1]
