import { useAsked } from "../../answers";
import type { Description, ListedSchedule, Slot } from "../../messages";
import { Bars } from "../../parts/Bars";
import { Failure } from "../../parts/Failure";
import { call } from "../../rpc";
import { nameOf } from "../../schedules";
import { clock } from "../../time";
import { addExpected, DAY_MINUTES } from "./load";

const MINUTE = 60_000;
/** Minutes of a bar: a bar for each would be too thin to point at. */
const STEP = 5;
/** Slots of a day that the server lists. */
const MAX_SLOTS = 4_096;

interface DayProps {
  schedules: ListedSchedule[];
  descriptions: Description[];
}

interface Expected {
  perMinute: number[];
  /** Schedules with more slots than can be listed. */
  leftOut: string[];
}

async function expectedOf({ schedules, descriptions }: DayProps, start: number, signal: AbortSignal) {
  const expected: Expected = { perMinute: Array<number>(DAY_MINUTES).fill(0), leftOut: [] };
  for (const [at, one] of schedules.entries()) {
    const description = descriptions[at]!;
    const cycle = Date.parse(description.cycleEndTime) - Date.parse(description.cycleStartTime);
    const slots = ((one.spec.slotCount ?? 1) * DAY_MINUTES * MINUTE) / cycle;
    if (slots > MAX_SLOTS - 2) {
      expected.leftOut.push(nameOf(one));
      continue;
    }
    const kinds = one.spec.kinds ?? [];
    const message = {
      schedule: { reference: one.reference },
      // Also the slot that has begun.
      startTime: new Date(start - cycle / (one.spec.slotCount ?? 1)).toISOString(),
      endTime: new Date(start + DAY_MINUTES * MINUTE).toISOString(),
      ...(kinds[0] && { kind: kinds[0].name }),
    };
    const answer = await call<{ slots: Slot[] }>("SlotService/ListSlots", message, signal);
    const perSlot = (description.slotLoad?.mean ?? 0) * Math.max(1, kinds.length);
    addExpected(expected.perMinute, answer.slots, perSlot, start);
  }
  return expected;
}

/** The expected load of the next 24 hours, of all schedules together. */
export function Day(props: DayProps) {
  const start = Math.floor(Date.now() / MINUTE) * MINUTE;
  const loads = props.descriptions.map((one) => [one.identity.fingerprint, one.slotLoad?.mean]);
  const answer = useAsked(JSON.stringify([loads, start]), (signal) =>
    expectedOf(props, start, signal),
  );
  const perMinute = answer.value?.perMinute ?? [];
  const bars = [];
  for (let from = 0; from < perMinute.length; from += STEP) {
    const value = perMinute.slice(from, from + STEP).reduce((one, other) => one + other, 0);
    bars.push({ label: `${clock(new Date(start + from * MINUTE))} UTC`, value: value / STEP });
  }
  return (
    <section>
      <h2>The next 24 hours, all schedules together</h2>
      <Failure failure={answer.failure} />
      {bars.length > 0 && <Bars title="Expected runs a minute, in UTC" bars={bars} />}
      {(answer.value?.leftOut.length ?? 0) > 0 && (
        <p class="note">Not drawn, as they have more than {MAX_SLOTS} slots a day: {answer.value!.leftOut.join(", ")}.</p>
      )}
    </section>
  );
}
