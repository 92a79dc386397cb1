"""A migration on each database: each row runs as the plan says, each run once."""

from __future__ import annotations

import json
import urllib.request
from collections import defaultdict
from datetime import datetime

import pytest

HOUR = 3_600_000
CUTOVER = 1_764_000_000_000 + 12_345


def post(address: str, method: str, request: dict) -> dict:
    url = f"http://{address}/offbeat.v1.SlotService/{method}"
    body = json.dumps(request).encode()
    headers = {"content-type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(url, body, headers)) as answer:
        return json.load(answer)


def millis(text: str) -> int:
    whole = datetime.fromisoformat(text.replace("Z", "+00:00"))
    return round(whole.timestamp() * 1_000)


def spec(seconds: int, slots: int, salt: str) -> dict:
    return {"spec": {"period": f"{seconds}s", "slotCount": slots, "salt": salt}}


#: Database, column type and ID type of each table.
TABLES = {
    "postgresql": ("postgresql", "uuid", "UUID"),
    "mariadb": ("mariadb", "uuid", "UUID"),
    "mysql": ("mariadb", "BINARY(16)", "UUID_BYTES"),  # on MariaDB, without its uuid
}


@pytest.mark.parametrize("dialect", TABLES)
@pytest.mark.parametrize("gap", [0, 600, 1_800])
@pytest.mark.parametrize(
    "new",
    [spec(28_800, 96, "b"), spec(43_200, 120, "b"), spec(43_200, 120, "a")],
    ids=["salt", "salt and period", "period"],
)
def test_every_row_goes_over_as_planned(address, databases, population, gap, new, dialect):
    where, sql_type, column_type = TABLES[dialect]
    database = databases[where]
    accounts = population[:1_000]
    ids = [str(account.uuid) for account in accounts]
    stored = [account.uuid.bytes for account in accounts] if sql_type == "BINARY(16)" else ids
    database.run("DROP TABLE IF EXISTS migrated")
    database.load("migrated", {"n": "INTEGER PRIMARY KEY", "id": sql_type}, enumerate(stored))
    plan = post(address, "PlanMigration", {
        "oldSchedule": spec(28_800, 128, "a"),
        "newSchedule": new,
        "cutoverTime": datetime.utcfromtimestamp(CUTOVER / 1_000).isoformat() + "Z",
        "minGap": f"{gap}s",
        "ids": {"uuids": ids},
        "sqlTarget": {
            "dialect": f"SQL_DIALECT_{dialect.upper()}", "table": "migrated", "column": "id",
            "columnType": f"SQL_COLUMN_TYPE_{column_type}",
        },
    })  # fmt: skip
    for index in plan["sqlIndexes"]:
        for statement in index["createStatements"]:
            database.run(statement)
    ran = defaultdict(list)
    for step in plan["steps"]:
        span = millis(step["startTime"]), millis(step["endTime"])
        by_new = step.get("byNewSchedule", False)
        for (row,) in database.run(f"SELECT n FROM migrated WHERE {step['predicate']['sql']}"):
            ran[int(row)].append((*span, by_new))
    end = millis(plan["steps"][-1]["endTime"])
    period = int(new["spec"]["period"][:-1]) * 1_000
    for row in range(len(ids)):
        expected = [(int(plan["ids"]["lastOldUnixMillis"][row]), False)]
        run = int(plan["ids"]["firstNewUnixMillis"][row])
        while run < end:
            expected.append((run, True))
            run += period
        assert len(ran[row]) == len(expected) >= 2
        for (start, behind, by_new), (run, wanted) in zip(ran[row], expected):
            assert start <= run < behind
            assert by_new == wanted
