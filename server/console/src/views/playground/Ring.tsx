import { useAsked, useCall } from "../../answers";
import type { Description, Schedule, Slot } from "../../messages";
import { call } from "../../rpc";
import { clock, seconds, spanText, utc } from "../../time";
import { excludedParts } from "./exclusions";
import type { KindAssignment } from "./assignments";

interface RingProps {
  schedule: Schedule;
  description: Description;
  assignments: KindAssignment[];
  now: Date;
}

const [WIDTH, HEIGHT, RADIUS] = [520, 390, 140];
/** Characters of a name that fit beside the ring. */
const SHOWN_NAME = 12;
const [CENTRE_X, CENTRE_Y] = [WIDTH / 2, HEIGHT / 2];
/** More would be a grey ring. */
const DRAWN_SLOTS = 360;

function point(turn: number, radius: number): [number, number] {
  const angle = (turn - 0.25) * 2 * Math.PI;
  return [CENTRE_X + radius * Math.cos(angle), CENTRE_Y + radius * Math.sin(angle)];
}

function arc(from: number, to: number, radius: number): string {
  const whole = to - from >= 0.9999;
  const end = whole ? from + 0.9999 : to;
  const [x1, y1] = point(from, radius);
  const [x2, y2] = point(end, radius);
  return `M${x1} ${y1}A${radius} ${radius} 0 ${end - from > 0.5 ? 1 : 0} 1 ${x2} ${y2}`;
}

/** Joins slots without a gap between them: what windows leave of the cycle. */
function activeParts(slots: Slot[]): [number, number][] {
  const parts: [number, number][] = [];
  for (const slot of slots) {
    const [start, end] = [Date.parse(slot.startTime), Date.parse(slot.endTime)];
    const last = parts.at(-1);
    if (last && last[1] === start) last[1] = end;
    else parts.push([start, end]);
  }
  return parts;
}

function shorten(name: string): string {
  return name.length > SHOWN_NAME ? `${name.slice(0, SHOWN_NAME - 1)}…` : name;
}

/** The cycle as a ring: its slots, the kinds of an ID, and now. */
export function Ring({ schedule, description, assignments, now }: RingProps) {
  const starts = assignments.map(({ assignment }) => assignment.pieces[0]?.nextRuns[0]?.startTime);
  const firstStart = starts.filter((start) => start !== undefined).sort()[0];
  // The cycle of the next run: months differ in length.
  const shown = useCall<Description>(
    "SlotService/DescribeSchedule",
    firstStart && firstStart >= description.cycleEndTime
      ? { schedule, atTime: firstStart }
      : undefined,
  );
  const cycle = shown.value ?? description;
  const [begin, end] = [Date.parse(cycle.cycleStartTime), Date.parse(cycle.cycleEndTime)];
  const turn = (instant: number) => (instant - begin) / (end - begin);
  const within = (instant: number) => ((turn(instant) % 1) + 1) % 1;
  const kind = assignments[0]!.kind;
  const slots = useAsked<Slot[]>(
    (description.spec.slotCount ?? 0) <= 4_096
      ? JSON.stringify([description.identity, cycle.cycleStartTime, kind])
      : undefined,
    async (signal) => {
      const window = { startTime: cycle.cycleStartTime, endTime: cycle.cycleEndTime };
      const message = { schedule, ...window, ...(kind && { kind }) };
      const answer = await call<{ slots: Slot[] }>("SlotService/ListSlots", message, signal);
      return answer.slots;
    },
  );
  const { spec } = description;
  const excluded = useAsked<[number, number][]>(
    spec.exclusions?.length ? JSON.stringify([spec, begin, end]) : undefined,
    (signal) => excludedParts(spec, begin, end, signal),
  );
  const parts = slots.value ? activeParts(slots.value) : [[begin, end] as [number, number]];
  const marks = (slots.value?.length ?? 0) <= DRAWN_SLOTS ? (slots.value ?? []) : [];
  const dots = assignments.flatMap(({ kind: name, assignment }, at) =>
    assignment.pieces.slice(0, 24).flatMap((piece) => {
      const run = piece.nextRuns[0];
      return run ? [{ name, at, piece, start: Date.parse(run.startTime) }] : [];
    }),
  );
  const sentence = dots
    .map((dot) => `${dot.name || "It"} runs at ${utc(new Date(dot.start))} UTC, in slot ${dot.piece.slotIndex}.`)
    .join(" ");
  const hand = within(now.getTime());
  return (
    <figure class="ring">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img">
        <title>{`The cycle as a ring. ${sentence}`}</title>
        <circle class="track" cx={CENTRE_X} cy={CENTRE_Y} r={RADIUS} />
        {parts.map(([from, to]) => (
          <path class="active" d={arc(turn(from), turn(to), RADIUS)} />
        ))}
        {excluded.value?.map(([from, to]) => (
          <path class="excluded" d={arc(turn(from), turn(to), RADIUS)}>
            <title>{`Excluded: ${utc(new Date(from))} to ${utc(new Date(to))} UTC`}</title>
          </path>
        ))}
        {marks.map((slot) => {
          const at = turn(Date.parse(slot.startTime));
          const [x1, y1] = point(at, RADIUS - 11);
          const [x2, y2] = point(at, RADIUS + 11);
          return <line class="slot" x1={x1} y1={y1} x2={x2} y2={y2} />;
        })}
        {dots.map((dot) => {
          const slot = slots.value?.find((one) => one.slotIndex === dot.piece.slotIndex);
          return slot ? (
            <path
              class={`own c${(dot.at % 8) + 1}`}
              d={arc(turn(Date.parse(slot.startTime)), turn(Date.parse(slot.endTime)), RADIUS)}
            />
          ) : null;
        })}
        {[0, 0.25, 0.5, 0.75].map((at) => {
          const [x, y] = point(at, RADIUS - 30);
          return (
            <text class="hour" x={x} y={y} dominant-baseline="central" text-anchor="middle">
              {clock(new Date(begin + at * (end - begin)))}
            </text>
          );
        })}
        <line
          class="now"
          x1={point(hand, 26)[0]}
          y1={point(hand, 26)[1]}
          x2={point(hand, RADIUS + 16)[0]}
          y2={point(hand, RADIUS + 16)[1]}
        />
        {dots.map((dot) => {
          const at = within(dot.start);
          const [x, y] = point(at, RADIUS);
          const [labelX, labelY] = point(at, RADIUS + 24);
          const anchor = at > 0.03 && at < 0.47 ? "start" : at > 0.53 && at < 0.97 ? "end" : "middle";
          return (
            <g class={`kind c${(dot.at % 8) + 1}`}>
              <circle cx={x} cy={y} r={dot.piece === assignments[dot.at]!.assignment.pieces[0] ? 8 : 4} />
              <text x={labelX} y={labelY} dominant-baseline="central" text-anchor={anchor}>
                <tspan x={labelX}>{shorten(dot.name)}</tspan>
                <tspan x={labelX} dy={dot.name ? "1.25em" : 0}>
                  {clock(new Date(dot.start))}
                </tspan>
              </text>
            </g>
          );
        })}
        <text class="centre" x={CENTRE_X} y={CENTRE_Y - 8} text-anchor="middle">
          {clock(now)} UTC
        </text>
        <text class="unit" x={CENTRE_X} y={CENTRE_Y + 12} text-anchor="middle">
          cycle of {spanText((end - begin) / 1_000)}
        </text>
      </svg>
      <figcaption>
        {description.spec.slotCount?.toLocaleString("en")} slots of{" "}
        {spanText(seconds(description.slotDuration))}. The ring shows the cycle from {utc(new Date(begin))} to{" "}
        {utc(new Date(end))} UTC{parts.length > 0 && parts[0]![1] - parts[0]![0] < end - begin ? "; nothing runs where it is thin" : ""}
        {excluded.value?.length ? "; nothing starts in the hatched parts, which are excluded" : ""}.
      </figcaption>
    </figure>
  );
}
