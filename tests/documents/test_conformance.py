"""The page on conformance: its commands run, and its runner detects wrong answers."""

from __future__ import annotations

import json
import subprocess
import sys

from support.server import ROOT, Server

FOLDER = ROOT / "examples" / "conformance"
PAGE = (ROOT / "docs" / "conformance.md").read_text()

WRONG = """
import json, sys
for number, line in enumerate(sys.stdin):
    answers = [{"response": {"slotIndex": 1}}, {"reason": "OUT_OF_RANGE", "field": "x"}]
    print(json.dumps(answers[number % 2]), flush=True)
"""


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, FOLDER / "run.py", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_server():
    with Server() as server:
        result = run(f"http://{server.address}")
    assert result.returncode == 0, result.stdout[-2000:]
    assert result.stdout in PAGE


def test_the_client_alone():
    result = run("--", sys.executable, str(FOLDER / "local.py"))
    assert result.returncode == 0, result.stdout[-2000:]
    assert result.stdout in PAGE


def test_a_program_that_is_always_wrong():
    result = run("--", sys.executable, "-c", WRONG)
    assert result.returncode == 1
    assert "\n0 answers are right" in result.stdout


def test_one_figure_that_differs():
    sys.path.insert(0, str(FOLDER))
    import run as runner

    case = next(case for case in runner.cases() if case["method"] == "AssignSlot")
    assert runner.difference(case, {"response": case["response"]}) is None
    text = json.dumps(case["response"]).replace('"slotIndex": 75', '"slotIndex": 76')
    assert runner.difference(case, {"response": json.loads(text)}) is not None
