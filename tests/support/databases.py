"""The three databases, which run only during the tests."""

from __future__ import annotations

import glob
import os
import shutil
import sqlite3
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import psycopg
import pymysql
from offbeat import SqlDialect, SqlParameterStyle, SqlPredicate

Rows = Sequence[Sequence[Any]]


class Database(ABC):
    """The interface to a database that the tests need, independent of its driver."""

    dialect: SqlDialect
    styles: tuple[SqlParameterStyle, ...]

    @abstractmethod
    def run(self, sql: str) -> Rows:
        """Run a statement without parameters."""

    @abstractmethod
    def load(self, table: str, columns: dict[str, str], rows: Iterable[Sequence[Any]]) -> None:
        """Make a table of quoted names, and fill it."""

    @abstractmethod
    def select(self, table: str, predicate: SqlPredicate, style: SqlParameterStyle) -> list[int]:
        """Return the column ``n`` of the rows that a predicate selects."""

    def analyze(self, table: str) -> None:  # noqa: B027 (not every database does)
        """Update the statistics that the query planner uses."""

    @abstractmethod
    def plan(self, table: str, predicate: SqlPredicate, style: SqlParameterStyle) -> str:
        """Return how the database would find the rows of a predicate."""

    def stop(self) -> None:  # noqa: B027 (a file has nothing to end)
        """End it."""


def create_table(table: str, columns: dict[str, str]) -> str:
    """Return the statement that makes a table of quoted names and their types."""
    return f"CREATE TABLE {table} ({', '.join(f'{c} {t}' for c, t in columns.items())})"


class PostgreSql(Database):
    dialect = SqlDialect.POSTGRESQL
    styles = (SqlParameterStyle.LITERAL, SqlParameterStyle.FORMAT, SqlParameterStyle.DOLLAR)

    def __init__(self, folder: Path) -> None:
        binaries = Path(sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1])
        folder.mkdir()
        # PostgreSQL refuses to run as root.
        self._as = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        if self._as:
            shutil.chown(folder, "postgres")
        self._control = [*self._as, str(binaries / "pg_ctl"), "-D", str(folder / "data")]
        options = "-A trust -U postgres -E UTF8 --locale=C.UTF-8"
        self._quietly([*self._control, "initdb", "-o", options])
        # ANALYZE evaluates every index on 300 rows times the target; the default takes minutes.
        cheap = "-c fsync=off -c autovacuum=off -c default_statistics_target=10"
        options = f"-k {folder} -c listen_addresses= {cheap}"
        self._control += ["-l", str(folder / "log"), "-w", "-o", options]
        self._quietly([*self._control, "start"])
        self._folder = folder
        self._connect()

    def _connect(self) -> None:
        self._connection = self.connect("postgres")
        self._raw = self.connect("postgres", cursor_factory=psycopg.RawCursor)

    def restart(self) -> None:
        """End it as a crash does, and start it again."""
        self.crash()
        self.start()

    def crash(self) -> None:
        """End it as a crash does."""
        self._quietly([*self._control, "-m", "immediate", "stop"])

    def start(self) -> None:
        """Start it again, after :meth:`crash`."""
        self._quietly([*self._control, "start"])
        self._connect()

    def environment(self, database: str) -> dict[str, str]:
        """Return the variables by which libpq finds a database."""
        return {"PGHOST": str(self._folder), "PGUSER": "postgres", "PGDATABASE": database}

    def connect(self, database: str, **options: Any) -> psycopg.Connection:
        """Connect to a database."""
        address = f"host={self._folder} user=postgres dbname={database}"
        return psycopg.connect(address, autocommit=True, **options)

    def _quietly(self, command: list[str]) -> None:
        subprocess.run(
            command, check=True, cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )

    def run(self, sql: str) -> Rows:
        cursor = self._connection.execute(sql)
        return cursor.fetchall() if cursor.description else []

    def load(self, table, columns, rows):
        self.run(create_table(table, columns))
        copy_in = f"COPY {table} ({', '.join(columns)}) FROM STDIN"
        with self._raw.cursor() as cursor, cursor.copy(copy_in) as copy:
            for row in rows:
                copy.write_row(row)

    def _query(self, before, table, predicate, style):
        connection = self._raw if style == SqlParameterStyle.DOLLAR else self._connection
        # Names may contain %, which has a meaning only in statements with parameters.
        table = table.replace("%", "%%") if style == SqlParameterStyle.FORMAT else table
        query = f"{before}SELECT n FROM {table} t WHERE {predicate.sql}"
        parameters = None if style == SqlParameterStyle.LITERAL else predicate.parameters
        return connection.execute(query, parameters).fetchall()

    def select(self, table, predicate, style):
        return [n for (n,) in self._query("", table, predicate, style)]

    def analyze(self, table):
        self.run(f"ANALYZE {table}")

    def plan(self, table, predicate, style):
        return "\n".join(line for (line,) in self._query("EXPLAIN ", table, predicate, style))

    def stop(self):
        self._connection.close()
        self._raw.close()
        self._quietly([*self._control, "-m", "immediate", "stop"])


class MariaDb(Database):
    dialect = SqlDialect.MARIADB
    styles = (SqlParameterStyle.LITERAL, SqlParameterStyle.FORMAT)

    def __init__(self, folder: Path) -> None:
        # At its start, MariaDB removes the temporary files of others from a shared folder.
        temporary = folder / "tmp"
        temporary.mkdir(parents=True)
        user = "mysql" if os.geteuid() == 0 else os.environ.get("USER", "")
        if os.geteuid() == 0:
            shutil.chown(folder, "mysql")
            shutil.chown(temporary, "mysql")
        environment = {**os.environ, "TMPDIR": str(temporary)}
        data = [f"--datadir={folder}/data", f"--user={user}"]
        subprocess.run(
            [
                "mariadb-install-db",
                "--no-defaults",
                *data,
                "--auth-root-authentication-method=normal",
            ],
            check=True,
            env=environment,
            stdin=subprocess.DEVNULL,
        )
        self.socket = f"{folder}/socket"
        self._server = subprocess.Popen(
            [
                "mariadbd",
                "--no-defaults",
                *data,
                f"--socket={self.socket}",
                "--skip-networking",
                "--innodb-flush-log-at-trx-commit=0",
                "--innodb-doublewrite=OFF",
                "--innodb-flush-method=nosync",
                "--innodb-buffer-pool-size=512M",
            ],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 60
        while True:
            try:
                self._connection = self.connect(None)
                break
            except pymysql.err.OperationalError:
                assert time.monotonic() < deadline
                assert self._server.poll() is None
                time.sleep(0.1)
        self.run("CREATE DATABASE offbeat CHARACTER SET utf8mb4")
        self.run("USE offbeat")

    def connect(self, database: str | None) -> pymysql.Connection:
        """Connect to a database."""
        return pymysql.connect(
            unix_socket=self.socket,
            user="root",
            database=database,
            charset="utf8mb4",
            autocommit=True,
        )

    def run(self, sql: str) -> Rows:
        with self._connection.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchall()

    def load(self, table, columns, rows):
        self.run(create_table(table, columns))
        into = f"{table} ({', '.join(columns)})".replace("%", "%%")
        marks = ", ".join(["%s"] * len(columns))
        with self._connection.cursor() as cursor:
            cursor.executemany(f"INSERT INTO {into} VALUES ({marks})", list(rows))
        self._connection.commit()

    def _query(self, before, table, predicate, style):
        table = table.replace("%", "%%") if style == SqlParameterStyle.FORMAT else table
        parameters = None if style == SqlParameterStyle.LITERAL else predicate.parameters
        with self._connection.cursor() as cursor:
            query = f"{before}SELECT n FROM {table} t WHERE {predicate.sql}"
            cursor.execute(query, parameters)
            return cursor.fetchall()

    def select(self, table, predicate, style):
        return [n for (n,) in self._query("", table, predicate, style)]

    def analyze(self, table):
        self.run(f"ANALYZE TABLE {table}")

    def plan(self, table, predicate, style):
        return str(self._query("EXPLAIN ", table, predicate, style))

    def stop(self):
        self._connection.close()
        self._server.kill()
        self._server.wait()


class Sqlite(Database):
    dialect = SqlDialect.SQLITE
    styles = (
        SqlParameterStyle.LITERAL,
        SqlParameterStyle.QUESTION_MARK,
        SqlParameterStyle.NAMED,
    )

    def __init__(self, path: str | Path = ":memory:") -> None:
        self._connection = sqlite3.connect(path, timeout=10)

    def script(self, sql: str) -> None:
        """Run several statements."""
        self._connection.executescript(sql)

    def insert(self, table: str, rows: Iterable[Sequence[Any]]) -> None:
        """Insert rows of two columns."""
        self._connection.executemany(f"INSERT INTO {table} VALUES (?, ?)", rows)
        self._connection.commit()

    def run(self, sql: str) -> Rows:
        return self._connection.execute(sql).fetchall()

    def load(self, table, columns, rows):
        self.run(create_table(table, columns))
        marks = ", ".join("?" * len(columns))
        self._connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)

    def select(self, table, predicate, style):
        query = f"SELECT n FROM {table} t WHERE {predicate.sql}"
        return [n for (n,) in self._connection.execute(query, predicate.parameters)]

    def plan(self, table, predicate, style):
        query = f"EXPLAIN QUERY PLAN SELECT n FROM {table} t WHERE {predicate.sql}"
        return "\n".join(row[3] for row in self._connection.execute(query, predicate.parameters))
