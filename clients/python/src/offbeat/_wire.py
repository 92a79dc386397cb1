"""Columns of numbers, straight from the bytes of a message.

On the wire, a packed column of fixed-width numbers is a little-endian array. Generated code
creates a Python object for each number; an ``array`` takes the bytes as they are.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable

_LENGTH_DELIMITED = 2


def taken(message: memoryview, numbers: Iterable[int]) -> tuple[dict[int, memoryview], bytes]:
    """Split a message into the bytes of some fields, by number, and the message without them.

    The fields must be packed columns or messages. If a field comes in several parts, they are
    joined.
    """
    found: dict[int, memoryview] = dict.fromkeys(numbers, memoryview(b""))
    rest = []
    at = 0
    while at < len(message):
        start = at
        tag, at = _varint(message, at)
        kind = tag & 7
        if kind == _LENGTH_DELIMITED:
            length, at = _varint(message, at)
        elif kind == 0:
            length = 0
            _, at = _varint(message, at)
        else:
            length = {1: 8, 5: 4}[kind]
        value, at = message[at : at + length], at + length
        if kind == _LENGTH_DELIMITED and tag >> 3 in found:
            before = found[tag >> 3]
            found[tag >> 3] = memoryview(bytes(before) + bytes(value)) if before else value
        else:
            rest.append(message[start:at])
    return found, b"".join(rest)


def column(code: str, data: memoryview) -> array[int]:
    """Return the numbers of a packed column, of 32 bits (``i``) or 64 bits (``q``) each."""
    numbers: array[int] = array(code)
    numbers.frombytes(data)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def to_bytes(numbers: array[int]) -> bytes:
    """Return the packed column of some numbers, which must be wider than a byte."""
    if sys.byteorder == "big":
        numbers = numbers[:]
        numbers.byteswap()
    return numbers.tobytes()


def head(number: int, length: int) -> bytes:
    """Return the tag and length before a field of ``length`` bytes; ``number`` is at most 15."""
    key = bytearray((number << 3 | _LENGTH_DELIMITED,))
    while length > 0x7F:
        key.append(length & 0x7F | 0x80)
        length >>= 7
    key.append(length)
    return bytes(key)


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at += 1
        if byte < 0x80:
            return value, at
        shift += 7
