"""Refusals, in the sidecar's words: the field, what it held, and what is allowed."""

from __future__ import annotations

import unicodedata

from ..errors import InvalidArgument, NotFound, OffbeatError

FIELD_MISSING = "ERROR_REASON_FIELD_MISSING"
OUT_OF_RANGE = "ERROR_REASON_OUT_OF_RANGE"
MALFORMED = "ERROR_REASON_MALFORMED"
CONTRADICTORY = "ERROR_REASON_CONTRADICTORY"
SLOT_COUNT_DOES_NOT_DIVIDE = "ERROR_REASON_SLOT_COUNT_DOES_NOT_DIVIDE"
ID_TYPE_UNSUITABLE = "ERROR_REASON_ID_TYPE_UNSUITABLE"
KINDS_DO_NOT_FIT = "ERROR_REASON_KINDS_DO_NOT_FIT"
UNKNOWN_SCHEDULE = "ERROR_REASON_UNKNOWN_SCHEDULE"

#: Longer values are shortened.
_MAX_VALUE_CHARACTERS = 80

_ESCAPES = {"\t": "\\t", "\r": "\\r", "\n": "\\n"}


class Rejection(Exception):
    """A refusal. As it propagates, each enclosing message adds its name to the field's path."""

    def __init__(self, reason: str, field: str, value: object, allowed: str) -> None:
        super().__init__(field)
        self.reason = reason
        self.field = _printable(field)
        self.value = shorten(str(value))
        self.allowed = _printable(allowed)

    def under(self, parent: str) -> Rejection:
        """Prefix the path of the field with ``parent``, and return the refusal."""
        separator = "." if self.field and not self.field.startswith("[") else ""
        self.field = f"{parent}{separator}{self.field}"
        return self

    def error(self) -> OffbeatError:
        """Return the exception that the client raises for the sidecar's refusal."""
        message = f"{self.field}: {self.value} is refused: {self.allowed}"
        if self.reason == FIELD_MISSING:
            message = f"{self.field}: is missing: {self.allowed}"
        unknown = self.reason == UNKNOWN_SCHEDULE
        return (NotFound if unknown else InvalidArgument)(
            message,
            reason=self.reason,
            field=self.field,
            value=self.value,
            allowed=self.allowed,
            code="NOT_FOUND" if unknown else "INVALID_ARGUMENT",
        )


def missing(field: str, allowed: str) -> Rejection:
    return Rejection(FIELD_MISSING, field, "nothing", allowed)


def unknown_enum_value(field: str, number: int, allowed: str) -> Rejection:
    return Rejection(OUT_OF_RANGE, field, number, f"must be {allowed}")


def shorten(value: str) -> str:
    """Cut a value to what a refusal shows; control characters are escaped."""
    shown = "".join(map(_escaped_control, value[:_MAX_VALUE_CHARACTERS]))
    return shown + ("…" if len(value) > _MAX_VALUE_CHARACTERS else "")


def quoted(text: str) -> str:
    """Return text in quotes, as the sidecar quotes it (Rust's ``{:?}``)."""
    return f'"{"".join(map(_escaped, text))}"'


def number_text(number: float) -> str:
    """Return a double in decimal, as Rust writes it: never with an exponent."""
    if number != number:
        return "NaN"
    if number in (float("inf"), float("-inf")):
        return str(number)
    text = f"{number:.0f}" if number == int(number) else repr(number)
    if "e-" in text:  # `repr` has the fewest digits that identify the double
        mantissa, exponent = text.split("e-")
        sign = "-" if mantissa.startswith("-") else ""
        digits = mantissa.lstrip("-").replace(".", "")
        text = f"{sign}0.{'0' * (int(exponent) - 1)}{digits}"
    return text


def debug_number_text(number: float) -> str:
    """Return a double as Rust's ``{:?}`` writes it: large and small ones with an exponent."""
    if number != number or number in (float("inf"), float("-inf")):
        return number_text(number)
    size = abs(number)
    if size and not 1e-5 <= size < 1e16:
        mantissa, _, exponent = repr(number).partition("e")
        if not exponent:
            mantissa, _, exponent = f"{number:.17g}".partition("e")
        return f"{mantissa.removesuffix('.0')}e{int(exponent)}"
    text = number_text(number)
    return text if "." in text else f"{text}.0"


def _printable(text: str) -> str:
    return text if text.isprintable() else "".join(map(_escaped_control, text))


def _escaped_control(character: str) -> str:
    if unicodedata.category(character) != "Cc":
        return character
    return _ESCAPES.get(character, f"\\u{{{ord(character):x}}}")


def _escaped(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    if character == "\0":
        return "\\0"
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable() and unicodedata.category(character) not in ("Mn", "Me"):
        return character
    return f"\\u{{{ord(character):x}}}"
