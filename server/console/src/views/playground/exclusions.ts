// When exclusions hold.

import type { Exclusion, ScheduleSpec, Slot } from "../../messages";
import { call } from "../../rpc";

const DAY = 86_400_000;
/** The longest unit of a calendar: an exclusion may have begun so long before a cycle. */
const LONGEST_UNIT = 31 * DAY;

/** The excluded parts of a span of time, in milliseconds. */
export async function excludedParts(
  spec: ScheduleSpec,
  begin: number,
  end: number,
  signal: AbortSignal,
): Promise<[number, number][]> {
  const parts: [number, number][] = [];
  for (const exclusion of spec.exclusions ?? []) {
    const spans = exclusion.dated
      ? [exclusion.dated]
      : await recurrences(exclusion, spec.resolution, begin, end, signal);
    for (const { startTime, endTime } of spans) {
      const [from, to] = [Math.max(begin, Date.parse(startTime)), Math.min(end, Date.parse(endTime))];
      if (from < to) parts.push([from, to]);
    }
  }
  return parts;
}

/** A part of each unit of a calendar is the only slot of a schedule with that window. */
async function recurrences(
  { recurring }: Exclusion,
  resolution: string | undefined,
  begin: number,
  end: number,
  signal: AbortSignal,
): Promise<Slot[]> {
  const { calendar, window } = recurring!;
  const spec = { calendar, slotCount: 1, activeWindows: [window], ...(resolution && { resolution }) };
  const message = {
    schedule: { spec },
    startTime: new Date(begin - LONGEST_UNIT).toISOString(),
    endTime: new Date(end).toISOString(),
  };
  return (await call<{ slots: Slot[] }>("SlotService/ListSlots", message, signal)).slots;
}
