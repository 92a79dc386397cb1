import { Bars } from "../../parts/Bars";
import { clock } from "../../time";
import { MAX_SLOTS, means, type Expected } from "./load";

interface DayChartProps {
  title: string;
  start: number;
  expected: Expected;
  /** The same day before a change. */
  before?: Expected;
}

/** The expected runs of a day, and which schedules are not in it. */
export function DayChart({ title, start, expected, before }: DayChartProps) {
  const leftOut = new Set([...expected.leftOut, ...(before?.leftOut ?? [])]);
  const withExclusions = new Set([...expected.withExclusions, ...(before?.withExclusions ?? [])]);
  return (
    <>
      <Bars
        title={title}
        bars={means(expected.perMinute, start).map(({ time, value }) => ({
          label: `${clock(time)} UTC`,
          value,
        }))}
        {...(before && { before: means(before.perMinute, start).map(({ value }) => value) })}
      />
      {withExclusions.size > 0 && (
        <p class="note">Drawn as without their exclusions: {[...withExclusions].join(", ")}.</p>
      )}
      {leftOut.size > 0 && (
        <p class="note">
          Not drawn, as they have more than {MAX_SLOTS} slots a day: {[...leftOut].join(", ")}.
        </p>
      )}
    </>
  );
}
