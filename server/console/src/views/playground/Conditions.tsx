import { useState } from "preact/hooks";
import { useCall } from "../../answers";
import type { Description, Predicate, Schedule } from "../../messages";
import { Copied } from "../../parts/Copied";
import { Failure } from "../../parts/Failure";
import { seconds, utc } from "../../time";
import type { KindAssignment } from "./assignments";

const DIALECTS = ["POSTGRESQL", "MYSQL", "MARIADB", "SQLITE"];
const TYPES = ["TEXT", "INTEGER", "UUID", "UUID_BYTES", "UUID_TEXT"];

interface ConditionsProps {
  schedule: Schedule;
  description: Description;
  assigned: KindAssignment;
}

/** The condition that finds the rows of the ID's slot in a database. */
export function Conditions({ schedule, description, assigned }: ConditionsProps) {
  const [dialect, setDialect] = useState(DIALECTS[0]!);
  const [columnType, setColumnType] = useState(TYPES[0]!);
  const [table, setTable] = useState("accounts");
  const [column, setColumn] = useState("id");
  const [piece] = assigned.assignment.pieces;
  const run = piece?.nextRuns[0];
  const start = run && Date.parse(run.startTime) - seconds(piece.slotOffset) * 1_000;
  const end = start && start + seconds(description.slotDuration) * 1_000;
  const answer = useCall<Predicate>(
    "SlotService/GetWindowPredicate",
    start && end
      ? {
          schedule,
          startTime: new Date(start).toISOString(),
          endTime: new Date(end).toISOString(),
          sqlTarget: {
            dialect: `SQL_DIALECT_${dialect}`,
            columnType: `SQL_COLUMN_TYPE_${columnType}`,
            table,
            column,
          },
          ...(assigned.kind && { kind: assigned.kind }),
        }
      : undefined,
  );
  return (
    <section>
      <h2>The rows of this slot, in SQL</h2>
      <div class="fields">
        <label>
          Database
          <select value={dialect} onChange={(event) => setDialect(event.currentTarget.value)}>
            {DIALECTS.map((one) => <option>{one}</option>)}
          </select>
        </label>
        <label>
          Table
          <input value={table} onInput={(event) => setTable(event.currentTarget.value)} />
        </label>
        <label>
          Column of the ID
          <input value={column} onInput={(event) => setColumn(event.currentTarget.value)} />
        </label>
        <label>
          Its type
          <select value={columnType} onChange={(event) => setColumnType(event.currentTarget.value)}>
            {TYPES.map((one) => <option>{one}</option>)}
          </select>
        </label>
      </div>
      <Failure failure={answer.failure} />
      {answer.value && start && end && (
        <>
          <p>
            What runs from {utc(new Date(start))} to {utc(new Date(end))} UTC:
          </p>
          <Copied label="SQL" text={`SELECT * FROM ${table} WHERE ${answer.value.predicate.sql}`} />
          {answer.value.sqlIndex && (
            <Copied label="Index" text={answer.value.sqlIndex.createStatements.join(";\n")} />
          )}
        </>
      )}
    </section>
  );
}
