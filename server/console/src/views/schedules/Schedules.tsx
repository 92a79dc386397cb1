import { useAsked } from "../../answers";
import type { Description, ListedSchedule } from "../../messages";
import { DraftInput } from "../../parts/Draft";
import { Failure } from "../../parts/Failure";
import { addressOf, setParams } from "../../router";
import { call } from "../../rpc";
import { cycleText, listSchedules, nameOf } from "../../schedules";
import { number } from "../../time";
import type { ViewProps } from "../props";
import { Day } from "./Day";
import { Migration } from "./Migration";

/** IDs of a schedule until the reader says how many there are. */
const POPULATION = 10_000;

/** What is loaded, and how the IDs of all of it load the next day. */
export function Schedules({ params }: ViewProps) {
  const loaded = useAsked("schedules", listSchedules);
  const schedules = loaded.value ?? [];
  const populations = readPopulations(params.get("ids"));
  const populationOf = (one: ListedSchedule) => populations[nameOf(one)] ?? POPULATION;
  const key = JSON.stringify(schedules.map((one) => [one.identity, populationOf(one)]));
  const described = useAsked<Description[]>(schedules.length > 0 ? key : undefined, (signal) =>
    Promise.all(
      schedules.map((one) => {
        const schedule = { reference: one.reference };
        const message = { schedule, population: String(populationOf(one)) };
        return call<Description>("SlotService/DescribeSchedule", message, signal);
      }),
    ),
  );
  const all = described.value?.map((description, at) => {
    const one = schedules[at]!;
    return { name: nameOf(one), schedule: { reference: one.reference }, spec: one.spec, description };
  });
  const chosen = schedules.find((one) => nameOf(one) === params.get("schedule"));
  const change = (name: string, count: number) =>
    setParams({ ids: JSON.stringify({ ...populations, [name]: count }) });
  return (
    <>
      <section class="intro">
        <h1>Schedules</h1>
        <p>
          What the server has loaded with <code>--schedules</code>. Say how many IDs each has, and
          see how many runs the fullest second gets, and what the next day looks like.
        </p>
      </section>
      <Failure failure={loaded.failure ?? described.failure} />
      {loaded.value?.length === 0 && (
        <p class="empty">
          No schedule is loaded. Callers may send whole schedules: try one in the{" "}
          <a href={addressOf("playground")}>playground</a>.
        </p>
      )}
      {schedules.length > 0 && (
        <>
          <div class="scrolled" tabIndex={0} role="region" aria-label="Loaded schedules">
            <table>
              <thead>
                <tr>
                  <th>Schedule</th>
                  <th>Cycle</th>
                  <th class="figure">Slots</th>
                  <th>Kinds</th>
                  <th class="figure">IDs</th>
                  <th class="figure">Runs a second</th>
                  <th class="figure">Fullest second</th>
                  <th class="figure">99 %</th>
                  <th>Period</th>
                </tr>
              </thead>
              <tbody>
                {schedules.map((one, at) => {
                  const load = described.value?.[at]?.secondLoad;
                  const kinds = one.spec.kinds ?? [];
                  return (
                    <tr key={nameOf(one)}>
                      <th scope="row">
                        <a
                          href={addressOf("playground", { schedule: nameOf(one) })}
                          title={`fingerprint ${one.identity.fingerprint}`}
                        >
                          {nameOf(one)}
                        </a>
                      </th>
                      <td>{cycleText(one.spec)}</td>
                      <td class="figure">{number(one.spec.slotCount ?? 0)}</td>
                      <td>{kinds.map((kind) => kind.name).join(", ") || "–"}</td>
                      <td class="figure">
                        <DraftInput
                          type="number"
                          min="1"
                          max="1000000000"
                          aria-label={`IDs of ${nameOf(one)}`}
                          value={String(populationOf(one))}
                          onCommit={(text) => change(nameOf(one), Number(text))}
                        />
                      </td>
                      <td class="figure">{load && number(load.mean * Math.max(1, kinds.length))}</td>
                      <td class="figure">{load?.fullestMedian}</td>
                      <td class="figure">{load?.fullestP99}</td>
                      <td>
                        <button
                          aria-pressed={one === chosen}
                          onClick={() => setParams({ schedule: one === chosen ? "" : nameOf(one) })}
                        >
                          try another
                        </button>
                      </td>
                    </tr>
                  );
                })}
              </tbody>
            </table>
          </div>
          <p class="note">The fullest second of the cycle has so many runs of a kind: in half of all populations at most the
            first figure, in 99 of 100 the second.</p>
          {all && <Day all={all} />}
          {all && chosen && (
            <Migration all={all} listed={chosen} population={populationOf(chosen)} />
          )}
        </>
      )}
    </>
  );
}

function readPopulations(text: string | null): Record<string, number> {
  try {
    return text ? (JSON.parse(text) as Record<string, number>) : {};
  } catch {
    return {};
  }
}
