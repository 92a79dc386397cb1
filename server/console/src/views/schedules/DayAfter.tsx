import { useAsked } from "../../answers";
import type { Description, ScheduleSpec } from "../../messages";
import { Failure } from "../../parts/Failure";
import { call } from "../../rpc";
import { DayChart } from "./DayChart";
import { expectedOf, keyOf, MAX_SLOTS, minuteNow, type Described } from "./load";

interface DayAfterProps {
  all: Described[];
  /** The schedule that changes, and its IDs. */
  name: string;
  population: number;
  spec: ScheduleSpec;
}

/** A day of all schedules together, before and after one of them has changed. */
export function DayAfter({ all, name, population, spec }: DayAfterProps) {
  const start = minuteNow();
  const answer = useAsked(keyOf(all, start) + JSON.stringify(spec), async (signal) => {
    const schedule = { spec };
    const message = { schedule, population: String(population) };
    const description = await call<Description>("SlotService/DescribeSchedule", message, signal);
    const changed = { name, schedule, spec, description };
    const before = await expectedOf(all, start, signal);
    const after = await expectedOf(all.map((one) => (one.name === name ? changed : one)), start, signal);
    return { before, after };
  });
  const found = answer.value;
  // A schedule that is drawn on one side alone would look like a change of load.
  const isComparable = found?.before.leftOut.includes(name) === found?.after.leftOut.includes(name);
  return (
    <>
      <Failure failure={answer.failure} />
      {!isComparable && (
        <p class="note">
          The load before and after is not drawn, as one of both has more than {MAX_SLOTS} slots a day.
        </p>
      )}
      {found && isComparable && (
        <DayChart
          title="Expected runs a minute of all schedules together, over a day after the change"
          start={start}
          expected={found.after}
          before={found.before}
        />
      )}
    </>
  );
}
