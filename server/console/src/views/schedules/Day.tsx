import { useAsked } from "../../answers";
import { Failure } from "../../parts/Failure";
import { DayChart } from "./DayChart";
import { expectedOf, keyOf, minuteNow, type Described } from "./load";

/** The expected load of the next 24 hours, of all schedules together. */
export function Day({ all }: { all: Described[] }) {
  const start = minuteNow();
  const answer = useAsked(keyOf(all, start), (signal) => expectedOf(all, start, signal));
  return (
    <section>
      <h2>The next 24 hours, all schedules together</h2>
      <Failure failure={answer.failure} />
      {answer.value && <DayChart title="Expected runs a minute, in UTC" start={start} expected={answer.value} />}
    </section>
  );
}
