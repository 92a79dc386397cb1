"""The unit, verified by systemd itself, offline."""

from __future__ import annotations

import configparser
import os
import re
import shutil
from pathlib import Path

import pytest
from containers import ROOT, checked, run

UNIT = ROOT / "deploy" / "systemd" / "offbeat.service"
DROP_IN = UNIT.parent / "offbeat.service.d" / "schedules.conf"
BINARY = Path(os.environ.get("OFFBEAT_BIN", ROOT / "target" / "release" / "offbeat"))
WORST_EXPOSURE = 15  # of 100, where a service without any setting has 96


@pytest.fixture(autouse=True)
def _analyzer() -> None:
    if not shutil.which("systemd-analyze"):
        pytest.fail("the unit cannot be tested: apt-get install systemd")


def judged(text: str, folder: Path, drop_in: str | None = None) -> list[str]:
    """Return the complaints of systemd about the unit, with the path of the built binary."""
    unit = folder / "offbeat.service"
    if drop_in is not None:
        beside = folder / "offbeat.service.d"
        beside.mkdir()
        (beside / DROP_IN.name).write_text(drop_in)
    unit.write_text(text.replace("/usr/local/bin/offbeat", str(BINARY.resolve())))
    verified = run("systemd-analyze", "verify", "--man=no", unit)
    complaints = [line for line in verified.stderr.splitlines() if unit.name in line]
    complaints += [line for line in verified.stderr.splitlines() if DROP_IN.name in line]
    limit = ("--offline=true", f"--threshold={WORST_EXPOSURE}", "--no-pager")
    exposed = run("systemd-analyze", "security", *limit, unit)
    if exposed.returncode != 0:
        complaints.append(exposed.stdout.splitlines()[-1] if exposed.stdout else exposed.stderr)
    return complaints


def test_systemd_takes_it(tmp_path):
    assert judged(UNIT.read_text(), tmp_path) == []


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("ProtectSystem=strict", "ProtectSystems=strict"),
        ("MemoryMax=512M", "MemoryMax=512Q"),
        ("SystemCallFilter=@system-service", "SystemCallFilter=@systemservice"),
        ("ExecStart=/usr/local/bin/offbeat", "ExecStart=offbeat/serve"),
        # Valid units that allow too much.
        (
            "SystemCallFilter=@system-service\nSystemCallFilter=~@privileged @resources\n"
            "SystemCallFilter=setpriority sched_setattr\n",
            "",
        ),
        ("DynamicUser=yes\nUser=offbeat\n", ""),
    ],
)
def test_a_broken_one_would_be_noticed(tmp_path, right, wrong):
    text = UNIT.read_text()
    assert right in text
    assert judged(text.replace(right, wrong), tmp_path)


def settings(path: Path = UNIT) -> configparser.SectionProxy:
    parser = configparser.RawConfigParser(strict=False)  # some keys occur twice
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    parser.read(path)
    return parser["Service"]


def test_the_binary_knows_its_settings():
    known = re.findall(r"\[env: (OFFBEAT_\w+)", checked(BINARY, "serve", "--help"))
    name, _, addresses = settings()["Environment"].partition("=")
    assert name in known
    folder = f"/run/{settings()['RuntimeDirectory']}/"
    assert all(address.startswith((f"unix:{folder}", "127.")) for address in addresses.split(","))


def test_schedules_are_a_drop_in(tmp_path):
    assert judged(UNIT.read_text(), tmp_path, DROP_IN.read_text()) == []
    name, _, path = settings(DROP_IN)["Environment"].partition("=")
    assert name in re.findall(r"\[env: (OFFBEAT_\w+)", checked(BINARY, "serve", "--help"))
    # The unit must not hide these paths.
    assert path.startswith("/etc/")
    checked(BINARY, "schedules", "check", ROOT / "deploy" / "schedules" / Path(path).name)


def test_the_copy_of_the_last_good_schedules_is_where_the_unit_may_write(tmp_path):
    """With the commented-out lines enabled."""
    whole = DROP_IN.read_text().replace("\n#StateDirectory", "\nStateDirectory")
    whole = whole.replace("\n#Environment", "\nEnvironment")
    assert judged(UNIT.read_text(), tmp_path, whole) == []
    (tmp_path / "whole.conf").write_text(whole)
    name, _, path = settings(tmp_path / "whole.conf")["Environment"].partition("=")
    assert name in re.findall(r"\[env: (OFFBEAT_\w+)", checked(BINARY, "serve", "--help"))
    folder = settings(tmp_path / "whole.conf")["StateDirectory"]
    assert Path(path).parent == Path("/var/lib") / folder


def test_what_does_not_mend_itself_is_not_tried_again(tmp_path):
    """The unit names the exit statuses of the binary."""
    broken = tmp_path / "schedules.toml"
    broken.write_text("[[schedule]]\n")
    for flags in (["--max-requests", "0"], ["--schedules", broken]):
        done = run(BINARY, "serve", "--listen", "127.0.0.1:0", "--admin-listen", "off", *flags)
        assert str(done.returncode) in settings()["RestartPreventExitStatus"].split()


def test_a_broken_drop_in_would_be_noticed(tmp_path):
    broken = DROP_IN.read_text().replace("Environment=", "Environments=")
    assert judged(UNIT.read_text(), tmp_path, broken)


def test_a_reload_is_the_signal_that_the_server_knows():
    assert settings()["ExecReload"] == "/bin/kill -HUP $MAINPID"


def test_it_may_end_in_peace():
    assert int(settings()["TimeoutStopSec"]) > 10  # the grace period
