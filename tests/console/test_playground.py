"""The playground: places equal Python's own computation, and the printed calls run as they are."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from support.server import ROOT

EXAMPLE_CYCLE = 8 * 3_600


def offset_of(identifier: str, cycle: int) -> int:
    """Return the seconds of an ID into its cycle: the hash as a fraction of it."""
    digest = hashlib.md5(identifier.encode()).hexdigest()[:16]
    return int(digest, 16) * cycle >> 64


def next_start(identifier: str, cycle: int, now: float, shift: int = 0) -> datetime:
    """Return when an ID runs next."""
    offset = (offset_of(identifier, cycle) + shift) % cycle
    start = int(now) // cycle * cycle + offset
    return datetime.fromtimestamp(start + (cycle if start < now else 0), timezone.utc)


def test_a_newcomer_sees_where_acme_runs_and_why(sidecar, opened):
    page = opened(sidecar)
    page.wait_for_selector("caption:has-text('Next runs')")
    now = datetime.now(timezone.utc).timestamp()
    starts = {
        kind: next_start("acme", EXAMPLE_CYCLE, now, shift)
        for kind, shift in (("balance", 0), ("transactions", EXAMPLE_CYCLE // 2))
    }
    table = page.locator("table").first.inner_text()
    local = timezone(timedelta(hours=-5))
    for kind, start in starts.items():
        local_start = start.astimezone(local)
        row = rf"{kind}\s+{start:%Y-%m-%d %H:%M:%S}\s+{local_start:%Y-%m-%d %H:%M:%S}\s+in "
        assert re.search(row, table), table
    reason = page.locator(".reason").inner_text()
    assert hashlib.md5(b"acme").hexdigest()[:16] in reason
    slot = offset_of("acme", EXAMPLE_CYCLE) // 600
    assert f"slot {slot} of 48" in reason
    title = page.locator(".ring title").text_content()
    assert f"balance runs at {starts['balance']:%Y-%m-%d %H:%M:%S} UTC, in slot {slot}." in title
    # First paint, from the server of this machine.
    paints = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    assert paints < 1_000


def test_the_address_is_the_state(sidecar, opened):
    page = opened(sidecar)
    page.get_by_label("ID", exact=True).fill("bolt")
    page.get_by_label("Loaded, or typed").select_option("bank-sync/1")
    page.wait_for_selector("code:text-is('bolt')")
    assert "schedule=bank-sync%2F1" in page.url
    assert "id=bolt" in page.url
    colleague = opened(sidecar, "#" + page.url.partition("#")[2])
    colleague.wait_for_selector("code:text-is('bolt')")
    assert colleague.get_by_label("Loaded, or typed").input_value() == "bank-sync/1"
    assert colleague.locator("table").first.inner_text() == page.locator("table").first.inner_text()


def test_what_is_refused_is_said_beside_the_field(sidecar, opened):
    page = opened(sidecar)
    page.get_by_label("Slots", exact=True).fill("47")
    page.get_by_label("Slots", exact=True).blur()
    refusal = page.get_by_role("alert")
    refusal.wait_for()
    assert "nearest: 45 and 48 slots" in refusal.inner_text()
    assert page.get_by_label("Slots", exact=True).get_attribute("aria-invalid") == "true"
    page.get_by_label("Slots", exact=True).fill("48")
    page.get_by_label("Slots", exact=True).blur()
    refusal.wait_for(state="detached")


def test_exclusions_are_drawn(sidecar, opened):
    """Exclusions for each day by Berlin's clock, and a single one."""
    tomorrow = (datetime.now(timezone.utc) + timedelta(days=1)).replace(microsecond=0)
    month_later = tomorrow + timedelta(days=30)
    once = {"startTime": f"{month_later:%Y-%m-%dT%H:%M:%SZ}", "endTime": "2100-01-01T00:00:00Z"}
    window = {"startOffset": "10800s", "endOffset": "19800s"}  # 03:00 to 05:30
    berlin = {"unit": "CALENDAR_UNIT_DAY", "timeZone": "Europe/Berlin"}
    exclusions = [{"recurring": {"calendar": berlin, "window": window}}, {"dated": once}]
    spec = {"period": "604800s", "slotCount": 7, "exclusions": exclusions}
    page = opened(sidecar, f"#/playground?id=acme&spec={json.dumps(spec)}")
    page.get_by_text("nothing starts in the hatched parts").wait_for()
    titles = page.locator(".excluded title").all_text_contents()
    assert 7 <= len(titles) <= 8, titles  # a week may begin within one
    whole = []
    for title in titles:
        start, end = re.findall(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", title)
        spans = [datetime.fromisoformat(one).replace(tzinfo=timezone.utc) for one in (start, end)]
        local = [one.astimezone(ZoneInfo("Europe/Berlin")) for one in spans]
        whole.append([f"{one:%H:%M:%S}" for one in local] == ["03:00:00", "05:30:00"])
    assert whole.count(True) >= 6, titles


COMMANDS = {
    "curl": ["bash", "-c"],
    "Python": [sys.executable, "-c"],
    "Ruby": ["ruby", "-Iclients/ruby/lib", "-e"],
    "PHP": ["php", "-r"],
}
QUESTIONS = {
    "an example": "",
    "a name": "#/playground?schedule=bank-sync/1&id=42",
    "a calendar": "#/playground?id=0190d7a2-1111-7abc-8def-0123456789ab&spec="
    '{"calendar":{"unit":"CALENDAR_UNIT_DAY","timeZone":"Europe/Berlin"},"salt":"it\'s #{new}"}',
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_each_call_runs_as_it_is_printed(question, sidecar, opened):
    page = opened(sidecar, QUESTIONS[question])
    page.wait_for_selector("caption:has-text('Next runs')")
    first = page.locator("tbody tr").first.inner_text()
    start = datetime.fromisoformat(re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", first)[0])
    # The playground selects the first kind, which need not run first.
    if page.locator("thead th", has_text="Kind").count():
        rows = page.locator("tbody tr", has_text="balance").first.inner_text()
        start = datetime.fromisoformat(re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", rows)[0])
    for language, command in COMMANDS.items():
        page.get_by_role("button", name=language, exact=True).click()
        text = page.get_by_label(f"The call in {language}", exact=True).inner_text()
        code = text.removeprefix("<?php") if language == "PHP" else text
        done = subprocess.run(
            [*command, code],
            cwd=ROOT,
            env={**os.environ, "OFFBEAT_ADDRESS": f"127.0.0.1:{sidecar.port}"},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, (language, text, done.stderr)
        found = re.search(r"\d{4}-\d\d-\d\d.\d\d:\d\d:\d\d", done.stdout)
        assert found, (language, done.stdout)
        if language != "curl":  # curl prints the last run first
            assert datetime.fromisoformat(found[0]) == start, (language, done.stdout)
        else:
            assert f"{start:%Y-%m-%dT%H:%M:%S}Z" in done.stdout, done.stdout


def test_a_call_is_copied(sidecar, opened):
    page = opened(sidecar)
    page.get_by_role("button", name="Copy: The call in curl").click()
    assert page.evaluate("navigator.clipboard.readText()").startswith("curl -sS ")


def test_a_run_key_from_a_log_shows_its_run(sidecar, opened):
    # Cycle 61000 of bank-sync/1: by hand, as the run key and the hash define it.
    start = 61_000 * EXAMPLE_CYCLE + (offset_of("acme", EXAMPLE_CYCLE) + EXAMPLE_CYCLE // 2) % (
        EXAMPLE_CYCLE
    )
    at = datetime.fromtimestamp(start, timezone.utc)
    page = opened(sidecar)
    page.get_by_label("A run key, from a log").fill("bank-sync/1/transactions/61000/0/acme")
    page.get_by_label("A run key, from a log").blur()
    page.wait_for_selector(f"output:has-text('{at:%Y-%m-%dT%H:%M:%S}Z')")
    page.wait_for_selector(f"td:has-text('{at:%Y-%m-%d %H:%M:%S}')")
    page.get_by_label("A run key, from a log").fill("no key")
    page.get_by_label("A run key, from a log").blur()
    page.wait_for_selector("output:has-text('no run key')")


def test_many_ids_do_not_freeze_the_page(sidecar, opened):
    page = opened(sidecar)
    page.wait_for_selector("figcaption:has-text('1,000 IDs over 48 slots')")
    page.evaluate(
        """() => {
          window.longest = 0;
          let last = performance.now();
          setInterval(() => {
            const now = performance.now();
            window.longest = Math.max(window.longest, now - last);
            last = now;
          }, 10);
        }"""
    )
    page.get_by_label("IDs to generate").fill("65536")
    page.get_by_label("IDs to generate").blur()
    page.wait_for_selector("figcaption:has-text('65,536 IDs over 48 slots')", timeout=30_000)
    assert page.evaluate("window.longest") < 1_000
    counts = [0] * 48
    for number in range(65_536):
        counts[offset_of(f"id-{number}", EXAMPLE_CYCLE) // 600] += 1
    titles = page.locator(".bar title").all_text_contents()
    assert titles == [f"slot {slot}: {count:,}" for slot, count in enumerate(counts)]
    # Move into a slot.
    page.get_by_label("Look into").select_option("7")
    page.wait_for_selector("figcaption:has-text('slot 7, second by second')")


def test_what_is_being_typed_stays(sidecar, opened):
    page = opened(sidecar)
    page.wait_for_selector("caption:has-text('Next runs')")
    period = page.get_by_label("Period", exact=True)
    period.fill("12h")
    page.wait_for_timeout(2_500)  # the page is drawn again each second
    assert period.input_value() == "12h"
    period.blur()
    page.wait_for_selector(".ring text:has-text('cycle of 12 h')")
    period.fill("twelve hours")
    period.blur()
    page.wait_for_timeout(1_500)
    assert period.input_value() == "twelve hours"  # no valid duration, but the input is kept


def test_pasted_ids_are_taken_as_they_are(sidecar, opened):
    page = opened(sidecar)
    page.get_by_label("or paste your own, one a line").fill("acme\nbolt\n")
    page.get_by_label("or paste your own, one a line").blur()
    page.wait_for_selector("figcaption:has-text('2 IDs over 48 slots')")


def test_the_condition_is_that_of_the_slot(sidecar, opened):
    page = opened(sidecar)
    sql = page.get_by_label("SQL", exact=True).inner_text()
    low, high = re.findall(r"'([0-9a-f]{16})'", sql)
    slot = offset_of("acme", EXAMPLE_CYCLE) // 600
    assert int(low, 16) == -(-(slot << 64) // 48)
    assert int(high, 16) == -(-(slot + 1 << 64) // 48)
    page.get_by_label("Database").select_option("SQLITE")
    page.get_by_role("alert").wait_for()  # it has no MD5
