"""The expression for the hash of an ID, which decides its slot, in each database."""

from __future__ import annotations

from typing import Callable

from .rejections import CONTRADICTORY, ID_TYPE_UNSUITABLE, Rejection

POSTGRESQL, MYSQL, MARIADB, SQLITE = 1, 2, 3, 4
_DIALECTS = ("", "PostgreSQL", "MySQL", "MariaDB", "SQLite")
_UUID, _BYTES, _SWAPPED, _UUID_TEXT, _DIGITS, _INTEGER, _TEXT, _FRACTION, _HASH = range(1, 10)
_TYPES = (
    "",
    "UUID",
    "UUID_BYTES",
    "UUID_BYTES_SWAPPED",
    "UUID_TEXT",
    "UUID_DIGITS",
    "INTEGER",
    "TEXT",
    "FRACTION",
    "HASH_DIGITS",
)


def key(dialect: int, column_type: int, column: str, salt: str) -> str:
    """Return the expression to compare: the first 16 digits of the hash, or more."""
    if column_type == _UUID and dialect in (MYSQL, SQLITE):
        allowed = "only PostgreSQL and MariaDB have a type uuid: say how the column stores it"
        raise Rejection(CONTRADICTORY, "column_type", f"UUID of {_DIALECTS[dialect]}", allowed)
    if column_type == _HASH:
        # Not in the column's own collation: under a Danish one, "aa" comes after "ff".
        return {SQLITE: column, POSTGRESQL: f'{column} COLLATE "C"'}.get(
            dialect, f"LEFT(RTRIM({column}), 16)"
        )
    if column_type == _FRACTION:
        allowed = "HASH takes columns of UUIDs, integers and text, and of their hash"
        raise Rejection(ID_TYPE_UNSUITABLE, "column_type", "FRACTION", allowed)
    if dialect == SQLITE:
        allowed = (
            "SQLite has no MD5: store the first 16 hexadecimal digits of MD5(salt ‖ canonical "
            "text of the ID) in a column of their own, and name that with "
            "SQL_COLUMN_TYPE_HASH_DIGITS (or use TWISTER)"
        )
        value = f"{_TYPES[column_type]} of SQLite"
        raise Rejection(CONTRADICTORY, "column_type", value, allowed)
    if dialect == POSTGRESQL:
        if "\0" in salt:
            allowed = "PostgreSQL's text cannot hold U+0000, and the salt does"
            raise Rejection(CONTRADICTORY, "dialect", "PostgreSQL", allowed)
        text = _POSTGRESQL_TEXTS[column_type](column)
        salted = f"{_postgresql_salt(salt)} || {text}" if salt else text
        return f'md5({salted}) COLLATE "C"'
    text = _MYSQL_TEXTS[column_type](column)
    salted = f"CONCAT({_utf8(_mysql_salt(salt))}, {text})" if salt else text
    # In sql_mode ORACLE, CONCAT skips NULL.
    stored = _stored(column_type, column)
    return f"IF({stored} IS NULL, NULL, LEFT(MD5({salted}), 16))"


def _hyphenated(digits: str) -> str:
    """PostgreSQL: hexadecimal digits as the text of a UUID."""
    return f"CAST(CAST({digits} AS uuid) AS text)"


def _unswapped(column: str) -> str:
    """PostgreSQL: the bytes of ``UUID_TO_BIN(x, 1)`` as the digits of the UUID."""
    digits = f"encode({column}, 'hex')"
    parts = ("9, 8", "5, 4", "1, 4", "17")
    return " || ".join(f"substr({digits}, {part})" for part in parts)


def _utf8(text: str) -> str:
    """MySQL: text as UTF-8, for any character set of column and connection."""
    return f"CONVERT({text} USING utf8mb4)"


def _stored(column_type: int, column: str) -> str:
    """MySQL: a column in an expression; MariaDB refuses plain CHAR in a generated column."""
    return f"RTRIM({column})" if column_type in (_UUID_TEXT, _DIGITS) else column


def _joined(groups: list[str]) -> str:
    separator = ", '-', "
    return f"CONCAT({separator.join(groups)})"


def _hyphenated_bytes(column: str, first_groups: str) -> str:
    """MySQL: bytes as the text of a UUID, with the positions of its first three groups."""
    parts = [*first_groups.split("; "), "9, 2", "11, 6"]
    groups = [f"HEX(SUBSTR({column}, {part}))" for part in parts]
    return _utf8(f"LOWER({_joined(groups)})")


def _hyphenated_digits(column: str) -> str:
    """MySQL: digits as the text of a UUID."""
    digits = f"LOWER({_utf8(f'RTRIM({column})')})"
    parts = ("1, 8", "9, 4", "13, 4", "17, 4", "21, 12")
    return _utf8(_joined([f"SUBSTR({digits}, {part})" for part in parts]))


#: The expression for the canonical text of an ID, by column type.
_POSTGRESQL_TEXTS: dict[int, Callable[[str], str]] = {
    _UUID: lambda column: f"CAST({column} AS text)",
    _BYTES: lambda column: _hyphenated(f"encode({column}, 'hex')"),
    _SWAPPED: lambda column: _hyphenated(_unswapped(column)),
    _UUID_TEXT: lambda column: f"lower({column})",
    _DIGITS: lambda column: _hyphenated(f"lower({column})"),
    _INTEGER: lambda column: f"CAST({column} AS text)",
    _TEXT: lambda column: column,
}

_MYSQL_TEXTS: dict[int, Callable[[str], str]] = {
    _UUID: lambda column: _utf8(f"CAST({column} AS CHAR)"),
    _BYTES: lambda column: _hyphenated_bytes(column, "1, 4; 5, 2; 7, 2"),
    _SWAPPED: lambda column: _hyphenated_bytes(column, "5, 4; 3, 2; 1, 2"),
    _UUID_TEXT: lambda column: f"LOWER({_utf8(f'RTRIM({column})')})",
    _DIGITS: _hyphenated_digits,
    _INTEGER: lambda column: _utf8(f"CONCAT({column} + 0)"),  # a number, without ZEROFILL's zeros
    _TEXT: _utf8,
}


def _postgresql_salt(salt: str) -> str:
    """Return a salt as text; characters with a meaning to drivers or settings go by number."""
    parts, plain = [], ""
    for character in salt:
        if not _is_special(character):
            plain += character
            continue
        parts += [f"'{plain}'"] if plain else []
        parts.append(f"chr({ord(character)})")
        plain = ""
    return " || ".join([*parts, f"'{plain}'"] if plain else parts)


def _mysql_salt(salt: str) -> str:
    """Return a salt as bytes: in plain text if it needs no escaping, else in hexadecimal."""
    if salt.isascii() and not any(map(_is_special, salt)):
        return f"'{salt}'"
    return f"X'{salt.encode().hex()}'"


def _is_special(character: str) -> bool:
    return character in "'\\%?:$" or ord(character) < 0x20 or 0x7F <= ord(character) < 0xA0
