import { useState } from "preact/hooks";
import { call } from "../../rpc";
import type { Assignment, Description, Schedule, ScheduleSpec } from "../../messages";
import { setParams } from "../../router";
import { idOf, readSchedule } from "../../schedules";
import { seconds } from "../../time";

interface ParsedKey {
  /** `name/version`, or a fingerprint. */
  root: string;
  kind: string;
  cycleIndex: number;
  id: string;
}

/** Reads `root/kind/cycle/piece/id`; a schedule without kinds has the kind `default`. */
export function parseRunKey(key: string): ParsedKey | undefined {
  const pattern =
    /^([0-9a-f]{64}|[A-Za-z0-9._-]+\/\d+)\/([A-Za-z0-9._-]+)\/(-?\d+)\/(\d+)\/(.+)$/;
  const found = pattern.exec(key.trim());
  if (!found) return undefined;
  return { root: found[1]!, kind: found[2]!, cycleIndex: Number(found[3]), id: found[5]! };
}

const DAY = 86_400;
const CALENDAR_DAYS: Record<string, number> = { DAY: 1, WEEK: 7, MONTH: 30.436875 };

/** About when a cycle begins, in seconds since 1970: never later than it does. */
function aboutStart(spec: ScheduleSpec, cycleIndex: number): number {
  const days = CALENDAR_DAYS[spec.calendar?.unit.replace("CALENDAR_UNIT_", "") ?? ""];
  if (days !== undefined) return (cycleIndex * days - days - 2) * DAY;
  const anchor = spec.anchorTime ? Date.parse(spec.anchorTime) / 1_000 : 0;
  return anchor + cycleIndex * seconds(spec.period) - 1;
}

interface RunKeyProps {
  schedule: Schedule | undefined;
  description: Description | undefined;
}

/** Finds the run of a key that somebody has from a log. */
export function RunKey({ schedule, description }: RunKeyProps) {
  const [found, setFound] = useState("");
  const find = async (text: string) => {
    setFound("");
    if (text.trim() === "") return;
    const key = parseRunKey(text);
    if (!key) {
      setFound("This is no run key: it is schedule, kind, cycle, piece and ID, with / between.");
      return;
    }
    try {
      const named = key.root.includes("/") ? readSchedule(key.root, null) : schedule;
      const about = key.root.includes("/")
        ? await call<Description>("SlotService/DescribeSchedule", { schedule: named })
        : description;
      if (!named || !about) return;
      if (!key.root.includes("/") && about.identity.fingerprint !== key.root) {
        setFound("The key is of another schedule than the one above.");
        return;
      }
      const from = new Date(aboutStart(about.spec, key.cycleIndex) * 1_000).toISOString();
      const assigned = await call<Assignment>("SlotService/AssignSlot", {
        schedule: named,
        id: idOf(key.id),
        fromTime: from,
        nextRunCount: 8,
        kind: key.kind,
      });
      const runs = assigned.pieces.flatMap((piece) => piece.nextRuns);
      const run = runs.find((one) => one.runKey === text.trim());
      if (!run) {
        setFound("The schedule has no such run.");
        return;
      }
      setFound(`${key.kind} of ${key.id}: ${run.startTime}, run ID ${run.runId}`);
      setParams({
        schedule: key.root.includes("/") ? key.root : "",
        id: key.id,
        from: run.startTime,
      });
    } catch (error) {
      setFound((error as Error).message);
    }
  };
  return (
    <label class="run-key">
      A run key, from a log
      <input
        placeholder="bank-sync/1/balance/62353/0/acme"
        spellcheck={false}
        onChange={(event) => find(event.currentTarget.value)}
      />
      <output>{found}</output>
    </label>
  );
}
