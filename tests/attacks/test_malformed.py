"""Malformed messages in protobuf and JSON."""

from __future__ import annotations

import json
import random

import pytest
from google.protobuf.internal.encoder import _VarintBytes as varint
from support.frames import Peer, begin, prefixed
from support.http1 import exchange, post
from support.questions import (
    ASSIGN_SLOT,
    ASSIGN_SLOTS,
    LIST_SLOTS,
    PLAN_LANES,
    SIMULATE,
    SLOTS,
    SUBMIT_GROUPS,
    many_slots,
    one_slot,
)
from trial import Trial

INVALID = "3"
#: The largest message of the bulk methods.
BULK = 4 << 20
CHOOSE_STAGE = "/offbeat.v1.StageService/ChooseStage"
ALLOCATE = "/offbeat.v1.StageService/AllocateWorkers"
DISPATCH = "/offbeat.v1.LaneService/DispatchJobs"
SPLIT = "/offbeat.v1.LaneService/SplitWorkers"
WAIT = "/offbeat.v1.NamedSpreadService/WaitForGroups"


def field(number: int, content: bytes) -> bytes:
    """A length-delimited field."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def nested(depth: int, number: int = 1) -> bytes:
    """Nested messages."""
    content = b""
    for _ in range(depth):
        if len(content) > 200_000:
            break
        content = field(number, content)
    return content


MALFORMED = {
    "a varint cut off": b"\x0a\xff",
    "a varint of eleven bytes": b"\x0a" + b"\xff" * 10 + b"\x01",
    "a tag of 0": b"\0\0",
    "a tag beyond 29 bits": b"\xff\xff\xff\xff\x7f\x00",
    "a length beyond the end": b"\x0a\x7f",
    "a length of 4 GiB": b"\x0a\xff\xff\xff\xff\x0f",
    "a length of 64 bits": b"\x0a" + b"\xff" * 9 + b"\x01",
    "a wrong wire type": b"\x08\x01",
    "wire type 6": b"\x0e\x00",
    "wire type 7": b"\x0f\x00",
    "a group that is not closed": b"\x0b",
    "a group that was not opened": b"\x0c",
    "a group closed by another": b"\xa3\x06\xac\x06",
    "groups in groups": b"\xa3\x06" * 100_000,
    "groups in groups, closed": b"\xa3\x06" * 60_000 + b"\xa4\x06" * 60_000,
    "text that is no UTF-8": field(2, field(1, b"\xff\xfe")),
    "a surrogate as UTF-8": field(2, field(1, b"\xed\xa0\x80")),
    "an overlong NUL": field(2, field(1, b"\xc0\x80")),
    "fixed32 cut off": b"\x0d\x00\x00",
    "fixed64 cut off": b"\x09\x00\x00",
}


def ask(peer: Peer, stream: int, path: str, message: bytes) -> str | None:
    """The status of a unary call."""
    peer.say(begin(stream, path))
    peer.upload(stream, prefixed(message))
    return peer.ask(stream, b"", 5).status


def test_malformed_protobuf(trial: Trial) -> None:
    def attack() -> None:
        wrong = []
        with Peer(trial.port) as peer:
            cases = [(name, path) for name in MALFORMED for path in (ASSIGN_SLOT, SUBMIT_GROUPS)]
            for at, (name, path) in enumerate(cases):
                # Unknown fields are skipped; then required fields are missing.
                status = ask(peer, 2 * at + 1, path, MALFORMED[name])
                if status != INVALID:
                    wrong.append(f"{name}: status {status}, GOAWAY {peer.goaway}")
            for depth in (50, 99, 100, 101, 60_000):
                at += 1
                status = ask(peer, 2 * at + 1, ASSIGN_SLOT, nested(depth))
                if status != INVALID:
                    wrong.append(f"{depth} messages in messages: {status}, GOAWAY {peer.goaway}")
        for name, message in MALFORMED.items():
            out = post(ASSIGN_SLOT, message).replace(b"application/json", b"application/proto")
            replies, _ = exchange(trial.port, out, 2)
            if [reply.status for reply in replies] != [400]:
                wrong.append(f"{name}, as application/proto: {replies}")
        assert not wrong, "\n".join(wrong)

    trial.withstands(attack)


#: Four megabytes that take many times as much memory, or long to parse.
SWOLLEN = {
    "2,000,000 empty groups": (SUBMIT_GROUPS, field(1, b"s") + b"\x12\0" * (BULK // 2 - 8)),
    "jobs without bytes": (SUBMIT_GROUPS, field(1, b"s") + field(2, b"\x1a\0" * (BULK // 2 - 8))),
    "groups to wait for": (WAIT, field(1, b"s") + b"\x12\0" * (BULK // 2 - 8)),
    "empty texts": (ASSIGN_SLOTS, field(2, b"\x2a\0" * (BULK // 2 - 8))),
    "empty UUIDs": (ASSIGN_SLOTS, field(2, b"\x12\0" * (BULK // 2 - 8))),
    "empty stages": (ALLOCATE, b"\x0a\0" * (BULK // 2)),
    "empty stages to move to": (CHOOSE_STAGE, b"\x0a\0" * (BULK // 2)),
    "empty free workers": (DISPATCH, b"\x12\0" * (BULK // 2)),
    "empty jobs to dispatch": (DISPATCH, b"\x1a\0" * (BULK // 2)),
    "empty states of lanes": (SPLIT, b"\x1a\0" * (BULK // 2)),
    "empty buckets": (PLAN_LANES, field(2, b"\x0a\0" * (BULK // 2 - 8))),
    "packed samples": (PLAN_LANES, field(1, field(1, bytes(BULK - 16)))),
    "samples that are not packed": (PLAN_LANES, field(1, (b"\x09" + bytes(8)) * (BULK // 9 - 2))),
    "unknown fields": (SUBMIT_GROUPS, b"\xa0\x06\0" * (BULK // 3)),
    "unknown groups": (SUBMIT_GROUPS, b"\xa3\x06\xa4\x06" * (BULK // 4)),
    "one field again and again": (ASSIGN_SLOTS, b"\x0a\0" * (BULK // 2)),
    "a scenario of brackets": (SIMULATE, field(1, b"a=" + b"[" * 200_000)),
    "a scenario of tables": (SIMULATE, field(1, b"".join(b"[a%d]\n" % n for n in range(25_000)))),
    "a scenario of dots": (SIMULATE, field(1, b"a." * 100_000 + b"a=1")),
}


@pytest.mark.parametrize("name", SWOLLEN)
def test_messages_that_swell(trial: Trial, name: str) -> None:
    path, message = SWOLLEN[name]

    def attack() -> None:
        with Peer(trial.port) as peer:
            found = {ask(peer, stream, path, message) for stream in (1, 3, 5, 7)}
            trial.note(f"statuses {found}")
            # 8 is a refusal as too much; 0 is an empty answer to a complete, cheap message.
            assert found <= {INVALID, "5", "8"}, f"{name}: statuses {found}"

    trial.withstands(attack)


@pytest.mark.parametrize("name", ["2,000,000 empty groups", "empty texts"])
def test_many_messages_that_swell_at_once(trial: Trial, name: str) -> None:
    """Sends 30 of them without their last bytes, and then the last bytes."""
    path, message = SWOLLEN[name]
    message = message[: len(message) // 4]  # a megabyte each

    def attack() -> None:
        with Peer(trial.port) as peer:
            streams = range(1, 61, 2)
            for stream in streams:
                peer.say(begin(stream, path))
                peer.upload(stream, prefixed(message)[:-1], end=False)
            for stream in streams:
                peer.upload(stream, message[-1:])
            peer.pump(10, done=lambda: peer.finished(*streams))
            found = {peer.answer(stream).status for stream in streams}
            trial.note(f"statuses {found}")
            assert found <= {INVALID, "5", "8"}, f"{name}: statuses {found}"

    trial.withstands(attack)


SPEC = '"schedule":{"spec":{"period":"86400s"}}'
DEEP = 100_000
JSON = {
    "brackets": b"[" * DEEP,
    "braces": b'{"schedule":' * (DEEP // 5),
    "brackets in a field": b'{"schedule":' + b"[" * DEEP,
    "brackets in an unknown field": b'{"x":' + b"[" * DEEP + b"]" * DEEP + b"}",
    "a number of 999,999 digits by exponent": f'{{{SPEC},"nextRunCount":1e999999}}'.encode(),
    "a tiny number": f'{{{SPEC},"nextRunCount":1e-999999}}'.encode(),
    "200,000 digits": f'{{{SPEC},"nextRunCount":{"9" * 200_000}}}'.encode(),
    "200,000 digits as text": f'{{{SPEC},"nextRunCount":"{"9" * 200_000}"}}'.encode(),
    "200,000 digits behind the point": f'{{{SPEC},"id":{{"fraction":0.{"1" * 200_000}}}}}'.encode(),
    "an exponent of 200,000 digits": f'{{{SPEC},"nextRunCount":1e{"9" * 200_000}}}'.encode(),
    "NaN": f'{{{SPEC},"id":{{"fraction":NaN}}}}'.encode(),
    "no UTF-8": b'{"id":{"text":"\xff\xfe"}}',
    "a key that is no UTF-8": b'{"\xff":1}',
    "a surrogate alone": b'{"id":{"text":"\\ud800"}}',
    "a surrogate, then a letter": b'{"id":{"text":"\\ud800x"}}',
    "a surrogate as a key": b'{"\\udfff":1}',
    "a key twice": f'{{{SPEC},{SPEC},"id":{{"text":"a"}}}}'.encode(),
    "a key in both spellings": f'{{{SPEC},"fromTime":null,"from_time":"x"}}'.encode(),
    "256 KiB of keys": b"{" + b",".join(b'"k%d":1' % n for n in range(22_000)) + b"}",
    "256 KiB of one key": b"{" + b",".join([b'"id":{}'] * 30_000) + b"}",
    "a key of 256 KiB": b'{"' + b"k" * 250_000 + b'":1}',
    "a value of 256 KiB": f'{{{SPEC},"id":{{"uuid":"{"u" * 250_000}"}}}}'.encode(),
    "a control character": b'{"id":{"text":"\0"}}',
    "a mark of byte order": b'\xef\xbb\xbf{"id":{"text":"a"}}',
    "two objects": b"{}{}",
    "nothing": b"",
    "null": b"null",
    "a comment": b"{/* */}",
    "a span of 200,000 digits": SPEC.replace("86400", "9" * 200_000).join("{}").encode(),
    "base64 of 200,000 signs": f'{{{SPEC},"id":{{"uuidBytes":"{"=" * 200_000}"}}}}'.encode(),
}
#: The most bytes of a refusal, which quotes a shortened value.
LONGEST_REFUSAL = 16_384


def test_malformed_json(trial: Trial) -> None:
    def attack() -> None:
        wrong = []
        for name, text in JSON.items():
            replies, _ = exchange(trial.port, post(ASSIGN_SLOT, text), 3)
            if [reply.status for reply in replies] != [400]:
                wrong.append(f"{name}: {[(reply.status, reply.body[:99]) for reply in replies]}")
                continue
            refusal = replies[0].body
            if len(refusal) > LONGEST_REFUSAL:
                wrong.append(f"{name}: a refusal of {len(refusal):,} bytes")
            elif json.loads(refusal).get("code") != "invalid_argument":
                wrong.append(f"{name}: {refusal[:200]!r}")
        assert not wrong, "\n".join(wrong)

    trial.withstands(attack)


def bulk(opening: str, element: str, closing: str) -> bytes:
    """As many elements as fit into the largest message."""
    count = (BULK - 1_000) // (len(element) + 1)
    return f"{opening}{','.join([element] * count)}{closing}".encode()


SWOLLEN_JSON = {
    "empty texts": (ASSIGN_SLOTS, bulk(f'{{{SPEC},"ids":{{"texts":[', '""', "]}}")),
    "small integers": (ASSIGN_SLOTS, bulk(f'{{{SPEC},"ids":{{"integers":[', "1", "]}}")),
    "wrong integers": (ASSIGN_SLOTS, bulk(f'{{{SPEC},"ids":{{"integers":[', "{}", "]}}")),
    "empty groups": (SUBMIT_GROUPS, bulk('{"spreadName":"s","groups":[', "{}", "]}")),
    "empty stages": (ALLOCATE, bulk('{"stages":[', "{}", "]}")),
    "unknown lists": (ALLOCATE, bulk('{"x":[', "[]", "]}")),
    # A scan that stops at too deep nesting must keep the count that it has so far.
    "many stages, then deep nesting": (
        ALLOCATE,
        bulk('{"stages":[', "{}", f'],"x":{"[" * 80}{"]" * 80}}}'),
    ),
    "many stages, then too deep nesting": (
        ALLOCATE,
        bulk('{"stages":[', "{}", f'],"x":{"[" * 200}{"]" * 200}}}'),
    ),
}


@pytest.mark.parametrize("name", SWOLLEN_JSON)
def test_json_that_swells(trial: Trial, name: str) -> None:
    path, text = SWOLLEN_JSON[name]

    def attack() -> None:
        replies, _ = exchange(trial.port, post(path, text), 10)
        statuses = [reply.status for reply in replies]
        trial.note(f"statuses {statuses}")
        assert statuses in ([400], [429]), f"{statuses}"

    trial.withstands(attack)


@pytest.mark.parametrize("seed", [1, 2])
def test_mutated_messages(trial: Trial, seed: int) -> None:
    """1,000 valid messages with changed bytes: answered or refused, never an internal error."""
    good = [
        (ASSIGN_SLOT, one_slot()),
        (ASSIGN_SLOTS, many_slots(5)),
        (LIST_SLOTS, many_slots(1)),
        (SLOTS + "GetReciprocalSlots", one_slot()),
        (SUBMIT_GROUPS, field(1, b"s") + field(2, field(1, b"g") + field(3, b"job"))),
        (ALLOCATE, field(1, field(1, b"a") + b"\x10\x05") + b"\x10\x03"),
    ]

    def mutated(chance: random.Random, message: bytes) -> bytes:
        changed = bytearray(message)
        for _ in range(chance.randint(1, 4)):
            place = chance.randrange(len(changed))
            what = chance.random()
            if what < 0.6:
                changed[place] = chance.randrange(256)
            elif what < 0.8:
                changed[place:place] = chance.randbytes(chance.randint(1, 9))
            elif len(changed) > 4:
                del changed[place : place + chance.randint(1, 3)]
        return bytes(changed)

    def attack() -> None:
        chance = random.Random(seed)
        with Peer(trial.port) as peer:
            for at in range(1_000):
                path, message = good[at % len(good)]
                message = mutated(chance, message) if message else b""
                status = ask(peer, 2 * at + 1, path, message)
                peer.answers.pop(2 * at + 1)
                allowed = ("0", INVALID, "5", "8", "9")
                assert status in allowed, f"{path} {message.hex()}: {status}"

    trial.withstands(attack)
