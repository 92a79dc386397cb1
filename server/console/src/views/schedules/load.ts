// Expected load over minutes.

import type { Description, ScheduleSpec, Slot } from "../../messages";
import { call } from "../../rpc";

const DAY_MINUTES = 1_440;
const MINUTE = 60_000;
/** Slots of a day that the server lists. */
export const MAX_SLOTS = 4_096;
/** Minutes of a bar: a bar for each would be too thin to point at. */
const STEP = 5;

/** A schedule whose load is wanted, as callers name it, with what the server says of it. */
export interface Described {
  name: string;
  schedule: object;
  spec: ScheduleSpec;
  description: Description;
}

export interface Expected {
  perMinute: number[];
  /** Schedules with more slots than can be listed. */
  leftOut: string[];
  /** Schedules whose exclusions are not in it. */
  withExclusions: string[];
}

/** The minute that has begun. */
export function minuteNow(): number {
  return Math.floor(Date.now() / MINUTE) * MINUTE;
}

/** What an expected load depends on. */
export function keyOf(all: Described[], start: number): string {
  const loads = all.map(({ description }) => [description.identity.fingerprint, description.slotLoad?.mean]);
  return JSON.stringify([loads, start]);
}

/** The expected runs of each minute of a day, of schedules together. */
export async function expectedOf(all: Described[], start: number, signal: AbortSignal): Promise<Expected> {
  const expected: Expected = { perMinute: Array<number>(DAY_MINUTES).fill(0), leftOut: [], withExclusions: [] };
  for (const { name, schedule, spec, description } of all) {
    const cycle = Date.parse(description.cycleEndTime) - Date.parse(description.cycleStartTime);
    const slotCount = description.spec.slotCount ?? 1;
    if ((slotCount * DAY_MINUTES * MINUTE) / cycle > MAX_SLOTS - 2) {
      expected.leftOut.push(name);
      continue;
    }
    if (spec.exclusions?.length) expected.withExclusions.push(name);
    const kinds = spec.kinds ?? [];
    const message = {
      schedule,
      // Also the slot that has begun.
      startTime: new Date(start - cycle / slotCount).toISOString(),
      endTime: new Date(start + DAY_MINUTES * MINUTE).toISOString(),
      ...(kinds[0] && { kind: kinds[0].name }),
    };
    const answer = await call<{ slots: Slot[] }>("SlotService/ListSlots", message, signal);
    const perSlot = (description.slotLoad?.mean ?? 0) * Math.max(1, kinds.length);
    addExpected(expected.perMinute, answer.slots, perSlot, start);
  }
  return expected;
}

/** Means of a few minutes each, and when they begin. */
export function means(perMinute: number[], start: number): { time: Date; value: number }[] {
  const found = [];
  for (let from = 0; from < perMinute.length; from += STEP) {
    const sum = perMinute.slice(from, from + STEP).reduce((one, other) => one + other, 0);
    found.push({ time: new Date(start + from * MINUTE), value: sum / STEP });
  }
  return found;
}

/** Adds `perSlot` runs for each slot, evenly over its time. */
function addExpected(perMinute: number[], slots: Slot[], perSlot: number, start: number): void {
  for (const slot of slots) {
    const [begin, end] = [Date.parse(slot.startTime), Date.parse(slot.endTime)];
    const perMilli = perSlot / (end - begin);
    const last = Math.min(perMinute.length, Math.ceil((end - start) / MINUTE));
    for (let minute = Math.max(0, Math.floor((begin - start) / MINUTE)); minute < last; minute++) {
      const from = start + minute * MINUTE;
      const shared = Math.min(end, from + MINUTE) - Math.max(begin, from);
      if (shared > 0) perMinute[minute]! += shared * perMilli;
    }
  }
}
