import { useState } from "preact/hooks";
import { useCall } from "../../answers";
import type { ListedSchedule, Migration as Plan, ScheduleSpec } from "../../messages";
import { Bars } from "../../parts/Bars";
import { Failure } from "../../parts/Failure";
import { nameOf } from "../../schedules";
import { number, seconds, spanText, utc } from "../../time";
import { DayAfter } from "./DayAfter";
import type { Described } from "./load";

/** By what the period may be multiplied. */
const FACTORS = [1 / 8, 1 / 6, 1 / 4, 1 / 3, 1 / 2, 3 / 4, 1, 3 / 2, 2, 3, 4, 6, 8];
const UNCHANGED = FACTORS.indexOf(1);
/** IDs for which the change is computed. */
const SAMPLE = 2_000;
const BARS = 96;

const PATHS: Record<string, string> = {
  UNCHANGED: "Nothing changes.",
  SAME_TIMES: "All IDs keep their times.",
  SAME_ORDER: "All IDs keep their order: each keeps its share of the cycle.",
  NEW_PLACES: "IDs get new places.",
};

interface MigrationProps {
  all: Described[];
  listed: ListedSchedule;
  population: number;
}

/** Another period, tried on a schedule: what becomes of its load and of its IDs' gaps. */
export function Migration({ all, listed, population }: MigrationProps) {
  const [at, setAt] = useState(UNCHANGED);
  const period = seconds(listed.spec.period);
  const next = Math.round(period * FACTORS[at]!);
  const changed: ScheduleSpec = { ...listed.spec, period: `${next}s` };
  delete changed.slotCount;
  delete changed.catchUpSpan;
  const spec = clean(changed);
  const cutover = Math.ceil(Date.now() / 3_600_000) * 3_600_000;
  const kinds = listed.spec.kinds ?? [];
  const answer = useCall<Plan>(
    "SlotService/PlanMigration",
    period > 0 && at !== UNCHANGED
      ? {
          oldSchedule: { reference: listed.reference },
          newSchedule: { spec },
          cutoverTime: new Date(cutover).toISOString(),
          ids: { texts: Array.from({ length: SAMPLE }, (_, index) => `id-${index}`) },
          ...(kinds[0] && { kind: kinds[0].name }),
        }
      : undefined,
  );
  const plan = answer.value;
  const perSecond = (cycle: number) => (population * Math.max(1, kinds.length)) / cycle;
  return (
    <section>
      <h2>Another period for {nameOf(listed)}</h2>
      {period === 0 ? (
        <p class="note">A calendar's cycle has no period to change here.</p>
      ) : (
        <>
          <label class="slider">
            {at === UNCHANGED ? `Period: ${spanText(period)}` : `Period: ${spanText(period)} → ${spanText(next)}`}
            <input
              type="range"
              min="0"
              max={FACTORS.length - 1}
              value={at}
              aria-valuetext={spanText(next)}
              onInput={(event) => setAt(event.currentTarget.valueAsNumber)}
            />
          </label>
          <Failure failure={answer.failure} />
          {plan?.ids && at !== UNCHANGED && (
            <>
              <p>
                {PATHS[plan.path.replace("MIGRATION_PATH_", "")]} {plan.advice}
              </p>
              <dl class="figures">
                <Figure name="Cutover" value={`${utc(new Date(cutover))} UTC`} />
                <Figure
                  name="Runs a second, before → after"
                  value={`${number(perSecond(period))} → ${number(perSecond(next))}`}
                />
                <Figure name="Shortest gap of a sample" value={spanText(seconds(plan.ids.observedMinGap))} />
                <Figure name="Longest gap of a sample" value={spanText(seconds(plan.ids.observedMaxGap))} />
                <Figure name="No gap is longer than" value={spanText(seconds(plan.maxGapBound))} />
              </dl>
              <DayAfter all={all} name={nameOf(listed)} population={population} spec={spec} />
              <Bars
                title={`Gap between the last old and the first new run of ${number(SAMPLE)} IDs`}
                bars={gaps(plan)}
              />
              <p class="note">
                The plan for your own IDs, with conditions for SQL: <code>offbeat slots migrate</code>.
              </p>
            </>
          )}
        </>
      )}
    </section>
  );
}

/** Without fields that mean "not set" in an answer, and would be refused in a request. */
function clean(spec: ScheduleSpec): ScheduleSpec {
  const kept = Object.entries(spec).filter(([, value]) => {
    const text = String(value);
    return text !== "" && !text.endsWith("_UNSPECIFIED") && !(Array.isArray(value) && value.length === 0);
  });
  return Object.fromEntries(kept) as ScheduleSpec;
}

function gaps(plan: Plan) {
  const { lastOldUnixMillis, firstNewUnixMillis } = plan.ids!;
  const all = firstNewUnixMillis.map((first, at) => Number(first) - Number(lastOldUnixMillis[at]));
  const most = Math.max(1_000, ...all);
  const bars = Array.from({ length: BARS }, (_, at) => ({
    label: spanText((at * most) / BARS / 1_000),
    value: 0,
  }));
  for (const gap of all) bars[Math.min(BARS - 1, Math.floor((gap / most) * BARS))]!.value += 1;
  return bars;
}

function Figure({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}
