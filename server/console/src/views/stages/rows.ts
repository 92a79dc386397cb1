// The stages that a reader types, and their messages.

export interface StageRow {
  name: string;
  backlog?: number;
  runSeconds?: number;
  /** Jobs a minute. */
  arrivals?: number;
  current?: number;
  min?: number;
  max?: number;
}

export const EXAMPLE: StageRow[] = [
  { name: "fetch", backlog: 600, runSeconds: 1, current: 10 },
  { name: "parse", backlog: 200, runSeconds: 4, current: 6 },
  { name: "store", backlog: 50, runSeconds: 2, current: 4 },
];

export function readStages(text: string | null): StageRow[] {
  try {
    const rows = text ? (JSON.parse(text) as StageRow[]) : EXAMPLE;
    return Array.isArray(rows) && rows.length > 0 ? rows : EXAMPLE;
  } catch {
    return EXAMPLE;
  }
}

export function toMessage(row: StageRow): object {
  return {
    name: row.name,
    backlogCount: String(row.backlog ?? 0),
    currentWorkerCount: row.current ?? 0,
    minWorkerCount: row.min ?? 0,
    ...(row.runSeconds !== undefined && { meanRunTime: `${row.runSeconds}s` }),
    ...(row.max !== undefined && { maxWorkerCount: row.max }),
    ...(row.arrivals !== undefined && { arrivalCount: String(Math.round(row.arrivals)), arrivalPeriod: "60s" }),
  };
}
