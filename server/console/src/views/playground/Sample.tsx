import { useState } from "preact/hooks";
import { useAsked, useCall } from "../../answers";
import type { Assignments, Description, Schedule } from "../../messages";
import { type Bar, Bars } from "../../parts/Bars";
import { DraftArea, DraftInput } from "../../parts/Draft";
import { Failure } from "../../parts/Failure";
import { setParams } from "../../router";
import { call } from "../../rpc";
import { number, seconds, spanText } from "../../time";

const MAX_IDS = 65_536;
/** IDs in one call: the page is drawn between two of them. */
const CHUNK = 8_192;
/** Bars that can be told apart. */
const BARS = 192;

interface SampleProps {
  schedule: Schedule;
  description: Description;
  kind: string;
  params: URLSearchParams;
}

interface Places {
  slots: number[];
  /** Seconds after the start of the slot. */
  offsets: number[];
  refused: string[];
}

async function assign(
  schedule: Schedule,
  kind: string,
  ids: string[],
  signal: AbortSignal,
): Promise<Places> {
  const places: Places = { slots: [], offsets: [], refused: [] };
  for (let from = 0; from < ids.length; from += CHUNK) {
    const texts = ids.slice(from, from + CHUNK);
    const message = { schedule, ids: { texts }, ...(kind && { kind }) };
    const answer = await call<Assignments>("SlotService/AssignSlots", message, signal);
    const { resolution, slotIndexes, slotOffsetTicks, errors } = answer.assignments;
    const tick = seconds(resolution);
    for (const slot of slotIndexes) places.slots.push(slot);
    for (const ticks of slotOffsetTicks) places.offsets.push(Number(ticks) * tick);
    places.refused.push(...errors.map((error) => `${texts[Number(error.idIndex)]}: ${error.allowed}`));
  }
  return places;
}

/** Counts values in equal ranges of whole steps. */
function histogram(values: number[], end: number, name: (from: number, to: number) => string): Bar[] {
  const step = Math.max(1, Math.ceil(end / BARS));
  const bars: Bar[] = [];
  for (let from = 0; from < end; from += step) {
    bars.push({ label: name(from, Math.min(end, from + step) - 1), value: 0 });
  }
  for (const value of values) {
    const bar = bars[Math.floor(value / step)];
    if (bar) bar.value += 1;
  }
  return bars;
}

/** How many IDs share a slot and a second, beside what chance lets expect. */
export function Sample({ schedule, description, kind, params }: SampleProps) {
  const [pasted, setPasted] = useState("");
  const [slotRange, setSlotRange] = useState<number>();
  const count = Math.min(MAX_IDS, Math.max(0, Number(params.get("sample") ?? "1000") || 0));
  const lines = pasted.split("\n").filter((line) => line !== "").slice(0, MAX_IDS);
  const ids = lines.length > 0 ? lines : Array.from({ length: count }, (_, at) => `id-${at}`);
  const key = JSON.stringify([description.identity, kind, lines.length > 0 ? pasted : count]);
  const answer = useAsked(ids.length > 0 ? key : undefined, (signal) =>
    assign(schedule, kind, ids, signal),
  );
  const expected = useCall<Description>(
    "SlotService/DescribeSchedule",
    ids.length > 0 ? { schedule, population: String(ids.length) } : undefined,
  );
  const slotCount = description.spec.slotCount ?? 1;
  const load = expected.value?.slotLoad;
  const step = Math.max(1, Math.ceil(slotCount / BARS));
  const places = answer.value;
  const bars =
    places &&
    histogram(places.slots, slotCount, (from, to) => (from === to ? `slot ${from}` : `slots ${from} to ${to}`));
  const slotSeconds = seconds(description.slotDuration);
  const inRange = (slot: number) => slotRange !== undefined && Math.floor(slot / step) === slotRange;
  return (
    <section>
      <h2>Many IDs: the load of each slot</h2>
      <div class="fields">
        <label>
          IDs to generate
          <DraftInput
            type="number"
            min="1"
            max={MAX_IDS}
            value={String(count)}
            onCommit={(sample) => setParams({ sample })}
          />
        </label>
        <label class="wide">
          or paste your own, one a line
          <DraftArea rows={2} value={pasted} onCommit={setPasted} />
        </label>
      </div>
      <Failure failure={answer.failure ?? expected.failure} />
      {places && bars && bars.length > 0 && (
        <>
          <Bars
            title={`${number(places.slots.length)} IDs over ${number(slotCount)} slots`}
            bars={bars}
            levels={load ? [
              { name: step === 1 ? "expected in a slot" : `expected in ${step} slots`, value: load.mean * step },
              ...(step === 1 ? [{ name: "fullest slot, in 99 of 100 populations at most", value: Number(load.fullestP99) }] : []),
            ] : []}
            onChosen={(at) => setSlotRange(at === slotRange ? undefined : at)}
            chosen={slotRange}
          />
          <label class="inline">
            Look into
            <select
              value={slotRange ?? ""}
              onChange={(event) => {
                const value = event.currentTarget.value;
                setSlotRange(value === "" ? undefined : Number(value));
              }}
            >
              <option value="">no slot</option>
              {bars.map((bar, at) => <option value={at}>{bar.label}</option>)}
            </select>
          </label>
          {slotRange !== undefined && bars[slotRange] && (
            <Bars
              title={`${bars[slotRange]!.label}, second by second`}
              bars={histogram(
                places.offsets.filter((_, at) => inRange(places.slots[at]!)),
                Math.max(1, Math.ceil(slotSeconds)),
                (from) => spanText(from),
              )}
            />
          )}
          {places.refused.length > 0 && (
            <p class="failure" role="alert">
              {places.refused.length} IDs are refused. The first: {places.refused[0]}
            </p>
          )}
        </>
      )}
    </section>
  );
}
