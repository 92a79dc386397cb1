// Expected load over minutes.

import type { Slot } from "../../messages";

export const DAY_MINUTES = 1_440;
const MINUTE = 60_000;

/** Adds `perSlot` runs for each slot, evenly over its time. */
export function addExpected(perMinute: number[], slots: Slot[], perSlot: number, start: number): void {
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
