"""Runs the cases of tests/vectors/decisions against an implementation, and compares its answers.

    python3 run.py http://127.0.0.1:2328         a server, by JSON over HTTP
    python3 run.py -- python3 local.py           a program that answers line by line

Such a program reads a case as one line of JSON, {"method": …, "request": …}, and writes one line:
{"response": …}, or {"reason": …, "field": …, "value": …, "allowed": …} for a refusal, or
{"unsupported": "why"}. The exit status is 1 if an answer differs.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

CASES = Path(__file__).parents[2] / "tests" / "vectors" / "decisions"
PROTOS = Path(__file__).parents[2] / "proto" / "offbeat"

#: Estimates, whose last digit may differ.
ESTIMATES = ("bucketShare", "slotLoad", "secondLoad")

Answer = dict[str, Any]


def cases() -> list[Answer]:
    """Return the cases of all files, without those that can be expressed only in JSON."""
    found = [case for file in sorted(CASES.glob("*.json")) for case in json.loads(file.read_text())]
    return [case for case in found if "raw" not in case and not case.get("json_only")]


def request_of(case: Answer) -> Answer:
    """Return the request, with texts and lists filled in that are too long to write out."""
    request: Answer = case["request"]
    for name in ("fill_text", "fill_list"):
        if name in case:
            *parents, field = case[name]["path"]
            place: Any = request
            for parent in parents:
                place = place[parent]
            element = "x" if name == "fill_text" else [case[name]["element"]]
            place[field] = element * case[name]["length"]
    return request


def plain(value: Any) -> Any:
    """Return an answer in normal form: numbers as text, times without trailing zeros."""
    if isinstance(value, dict):
        fields = {name: plain(field) for name, field in value.items() if name not in ESTIMATES}
        return {name: field for name, field in fields.items() if not is_empty(field)}
    if isinstance(value, list):
        return [plain(element) for element in value]
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        value = repr(value)
    if isinstance(value, str):
        return re.sub(r"(\.\d*?)0+(?=[Zs]?$)", r"\1", value).replace(".Z", "Z").replace(".s", "s")
    return value


def is_empty(value: Any) -> bool:
    """Return whether an answer may leave out a field with this value."""
    if isinstance(value, str):
        return value in ("", "0") or value.endswith("_UNSPECIFIED")
    return not value


def difference(case: Answer, answer: Answer) -> str | None:
    """Return a description of what is wrong with an answer."""
    if "response" in case:
        expected, actual = case["response"], answer.get("response")
        if case["method"] == "CompareSchedules" and actual:
            for pair in actual.get("pairs", []):
                pair.pop("message", None)
        if plain(expected) == plain(actual):
            return None
        return f"must be {json.dumps(expected)}, is {json.dumps(answer)}"
    for name in ("reason", "field", "value"):
        if name in case and case[name] != answer.get(name):
            return f"{name} must be {case[name]!r}, is {json.dumps(answer)}"
    missing = [words for words in case.get("allowed", []) if words not in answer.get("allowed", "")]
    return f"must name {missing}, is {json.dumps(answer)}" if missing else None


def server(address: str) -> Callable[[str, Answer], Answer]:
    """Return a function that calls a server."""
    services = {
        method: f"offbeat.{file.parent.name}.{service}"
        for file in PROTOS.glob("*/*.proto")
        for service, body in re.findall(r"^service (\w+) \{(.*?)^\}", file.read_text(), re.M | re.S)
        for method in re.findall(r"^  rpc (\w+)", body, re.M)
    }

    def ask(method: str, request: Answer) -> Answer:
        url = f"{address.rstrip('/')}/{services[method]}/{method}"
        body = json.dumps(request).encode()
        headers = {"content-type": "application/json"}
        try:
            with urllib.request.urlopen(urllib.request.Request(url, body, headers)) as answer:
                return {"response": json.load(answer)}
        except urllib.error.HTTPError as error:
            return refusal(json.load(error))

    return ask


def refusal(error: Answer) -> Answer:
    """Return the parts of a refusal in the Connect protocol."""
    parts: Answer = {}
    for detail in error.get("details", []):
        debug = detail.get("debug", {})
        if detail["type"] == "google.rpc.ErrorInfo":
            parts["reason"] = debug["reason"].removeprefix("ERROR_REASON_")
            parts.update(debug.get("metadata", {}))
    return parts or {"reason": error.get("code"), "allowed": error.get("message", "")}


def program(command: list[str]) -> Callable[[str, Answer], Answer]:
    """Return a function that asks a program, line by line."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    to, answers = process.stdin, process.stdout
    assert to is not None
    assert answers is not None

    def ask(method: str, request: Answer) -> Answer:
        to.write(json.dumps({"method": method, "request": request}) + "\n")
        to.flush()
        line = answers.readline()
        if not line:
            sys.exit(f"{' '.join(command)} has ended")
        answer: Answer = json.loads(line)
        return answer

    return ask


def main(arguments: list[str]) -> int:
    """Run all cases."""
    if not arguments or (arguments[0] == "--") == (len(arguments) == 1):
        print(__doc__, file=sys.stderr)
        return 64
    ask = program(arguments[1:]) if arguments[0] == "--" else server(arguments[0])
    same, unsupported, different = 0, 0, 0
    for case in cases():
        answer = ask(case["method"], request_of(case))
        if "unsupported" in answer:
            unsupported += 1
            continue
        wrong = difference(case, answer)
        same += wrong is None
        if wrong is not None:
            different += 1
            print(f"{case['method']} {json.dumps(case['request'])[:500]}: {wrong[:1500]}\n")
    print(f"{same} answers are right, {different} are wrong, {unsupported} were not given")
    return 1 if different or not same else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
