"""Prints golden predicates: statements written by hand, with bounds from exact integers.

Run: python3 decisions_in_sql.py > ../decisions/sql.json
tests/databases checks against three databases that the statements are right.
"""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta, timezone

from decisions import Spec, print_cases, rfc3339, slot

AT = datetime(2026, 1, 1, tzinfo=timezone.utc)


def index_name(what, table, expression):
    digest = hashlib.sha256(f"{table}\0{expression}".encode()).hexdigest()
    return f"offbeat_{what}_{digest[:8]}"


def indexed(name, *statements):
    return {"name": name, "createStatements": list(statements)}


def hash_bounds(spec, low, high):
    """Bounds of offsets in seconds; the range to the end of the cycle is open."""
    ticks = spec.period // 1_000
    digits = [format(-(-(offset << 64) // ticks), "016x") for offset in (low, high)]
    return [digits[0]] if high == ticks else digits


def condition(expression, bounds, write):
    parts = [f"{expression} {sign} {write(bound)}" for sign, bound in zip((">=", "<"), bounds)]
    return " AND ".join(parts)


def literal(bound):
    return f"'{bound}'" if isinstance(bound, str) else str(bound)


def listed(spec, column, expression, bounds_of, index, style="LITERAL", placeholders=None):
    """All slots of a cycle."""
    slots = []
    for number in range(spec.slots):
        bounds = bounds_of(number)
        given = iter(placeholders or ())
        text = condition(expression, bounds, lambda bound: next(given, None) or literal(bound))
        predicate = {"sql": f"({text})"}
        if placeholders:
            predicate["parameters"] = [
                {
                    **({"name": mark[1:]} if style == "NAMED" else {}),
                    **({"text": bound} if isinstance(bound, str) else {"integer": str(bound)}),
                }
                for mark, bound in zip(placeholders, bounds)
            ]
        first = (AT - spec.anchor) // timedelta(milliseconds=spec.slot)
        slots.append({**slot(spec, first + number), "predicate": predicate})
    if placeholders:
        column = {**column, "parameterStyle": f"SQL_PARAMETER_STYLE_{style}"}
    return {
        "method": "ListSlots",
        "request": {"schedule": spec.json(), "startTime": rfc3339(AT), "sqlTarget": column},
        "response": {"identity": spec.identity, "slots": slots, "sqlIndex": index},
    }


def hash_slots(spec):
    length = spec.slot // 1_000
    return lambda number: hash_bounds(spec, number * length, (number + 1) * length)


def bucket_slots(spec, write):
    """Buckets by trying each one."""

    def bounds(number):
        count = spec.buckets or 256
        own = [bucket for bucket in range(count) if bucket * spec.slots // count == number]
        return [write(own[0])] if own[-1] == count - 1 else [write(own[0]), write(own[-1] + 1)]

    return bounds


def column(dialect, kind, **more):
    kind = f"SQL_COLUMN_TYPE_{kind}"
    return {"dialect": f"SQL_DIALECT_{dialect}", "table": "account", "columnType": kind, **more}


def cases():
    plain = Spec(86_400_000, 3)
    salted = Spec(86_400_000, 3, salt="it's é")
    twister = Spec(86_400_000, 3, placement="TWISTER")
    wide = Spec(86_400_000, 3, placement="TWISTER", buckets=65_536)

    expression = 'md5(CAST("id" AS text)) COLLATE "C"'
    name = index_name("hash", "account", expression)
    index = indexed(name, f'CREATE INDEX IF NOT EXISTS "{name}" ON "account" (({expression}))')
    yield listed(
        plain, column("POSTGRESQL", "UUID", column="id"), expression, hash_slots(plain), index
    )

    # Predicates use the alias, the index does not; placeholders continue the caller's numbering.
    expression = "md5('it' || chr(39) || 's é' || \"I\"\"D\") COLLATE \"C\""
    name = index_name("hash", "account", expression)
    index = indexed(name, f'CREATE INDEX IF NOT EXISTS "{name}" ON "app"."account" (({expression}))')
    more = {"column": 'I"D', "schema": "app", "tableAlias": "a", "firstParameterNumber": 3}
    aliased = expression.replace('"I""D"', '"a"."I""D"')
    yield listed(
        salted,
        column("POSTGRESQL", "TEXT", **more),
        aliased,
        hash_slots(salted),
        index,
        "DOLLAR",
        ["$3", "$4"],
    )

    expression = 'right(encode("id", \'hex\'), 2) COLLATE "C"'
    name = index_name("bucket", "account", expression)
    index = indexed(name, f'CREATE INDEX IF NOT EXISTS "{name}" ON "account" (({expression}))')
    yield listed(
        twister,
        column("POSTGRESQL", "UUID_BYTES_SWAPPED", column="id"),
        expression,
        bucket_slots(twister, lambda bucket: format(bucket, "02x")),
        index,
        "QUESTION_MARK",
        ["?", "?"],
    )

    expression = 'mod(mod("100%", 65536) + 65536, 65536)'
    name = index_name("bucket", "account", expression)
    index = indexed(name, f'CREATE INDEX IF NOT EXISTS "{name}" ON "account" (({expression}))')
    yield listed(
        wide,
        column("POSTGRESQL", "INTEGER", column="100%"),
        expression.replace("%", "%%"),
        bucket_slots(wide, int),
        index,
        "FORMAT",
        ["%s", "%s"],
    )

    # MySQL and MariaDB: a generated column, hashed over bytes whatever the connection's charset.
    groups = [(5, 4), (3, 2), (1, 2), (9, 2), (11, 6)]
    digits = ", '-', ".join(f"HEX(SUBSTR(`i``d`, {start}, {count}))" for start, count in groups)
    text = f"CONVERT(LOWER(CONCAT({digits})) USING utf8mb4)"
    salt = "it's é".encode().hex()
    salt = f"CONVERT(X'{salt}' USING utf8mb4)"
    expression = f"IF(`i``d` IS NULL, NULL, LEFT(MD5(CONCAT({salt}, {text})), 16))"
    name = index_name("hash", "", expression)
    for dialect, unless in (("MYSQL", ""), ("MARIADB", "IF NOT EXISTS ")):
        index = indexed(
            name,
            f"ALTER TABLE `account` ADD COLUMN {unless}`{name}` "
            f"CHAR(16) CHARACTER SET ascii COLLATE ascii_bin GENERATED ALWAYS AS ({expression}) "
            "VIRTUAL INVISIBLE",
            f"ALTER TABLE `account` ADD INDEX {unless}`{name}` (`{name}`)",
        )
        yield listed(
            salted,
            column(dialect, "UUID_BYTES_SWAPPED", column="i`d"),
            f"`{name}`",
            hash_slots(salted),
            index,
        )

    expression = "(`id` & 255)"
    name = index_name("bucket", "account", expression)
    index = indexed(name, f"CREATE INDEX IF NOT EXISTS `{name}` ON `account` ({expression})")
    yield listed(
        twister,
        column("SQLITE", "INTEGER", column="id"),
        expression,
        bucket_slots(twister, int),
        index,
    )

    # Windows: in the middle of a cycle, over its end, all of it, nothing.
    expression = "`hash`"
    name = index_name("hash", "account", expression)
    index = indexed(name, f"CREATE INDEX IF NOT EXISTS `main`.`{name}` ON `account` ({expression})")
    hashed = column("SQLITE", "HASH_DIGITS", column="hash", schema="main")
    hashed["parameterStyle"] = "SQL_PARAMETER_STYLE_NAMED"
    day = 86_400
    for start, length, ranges in [
        (100, 60, [(100, 160)]),
        (day - 30, 60, [(day - 30, day), (0, 30)]),
        (0, day, [(0, day)]),
        (77, day, [(0, day)]),
        (77, 0, [(77, 77)]),
        (-10, 10, [(day - 10, day)]),
    ]:
        conditions, parameters = [], []
        for low, high in ranges:
            bounds = hash_bounds(plain, low, high)
            first = len(parameters) + 1
            names = [f"offbeat_{first + number}" for number in range(len(bounds))]
            marks = iter(names)
            conditions.append(condition(expression, bounds, lambda _, m=marks: f":{next(m)}"))
            parameters += [
                {"name": name, "text": bound} for name, bound in zip(names, bounds)
            ]
        sql = f"({conditions[0]})"
        if len(conditions) > 1:
            sql = f"({' OR '.join(f'({part})' for part in conditions)})"
        yield {
            "method": "GetWindowPredicate",
            "request": {
                "schedule": plain.json(),
                "startTime": rfc3339(AT + timedelta(seconds=start)),
                "endTime": rfc3339(AT + timedelta(seconds=start + length)),
                "sqlTarget": hashed,
            },
            "response": {
                "identity": plain.identity,
                "predicate": {"sql": sql, "parameters": parameters},
                "sqlIndex": index,
            },
        }


if __name__ == "__main__":
    print_cases(list(cases()))
