import { useCall } from "../../answers";
import { type Bar, Bars } from "../../parts/Bars";
import { DraftInput } from "../../parts/Draft";
import { Failure } from "../../parts/Failure";
import { setParams } from "../../router";
import { number, spanText } from "../../time";
import type { ViewProps } from "../props";
import { EXAMPLE, readStages, type StageRow, toMessage } from "./rows";

interface StageAllocation {
  stageName: string;
  workerCount: number;
  score: number;
  nextQuotient: number;
  drainTimeMicros?: string;
  minStableWorkerCount: number;
}

interface Allocated {
  allocation?: {
    stages: StageAllocation[];
    moves: { fromStageName: string; toStageName: string; workerCount: number }[];
    unassignedWorkerCount: number;
    starvedStages: { stageName: string; backlogCount: string }[];
  };
}

const FIELDS: [keyof StageRow, string][] = [
  ["backlog", "Backlog"],
  ["runSeconds", "Run time, s"],
  ["arrivals", "Arrivals/min"],
  ["current", "Now"],
  ["min", "At least"],
  ["max", "At most"],
];

/** Workers over the stages of a pipeline, tried by hand. */
export function Stages({ params }: ViewProps) {
  const rows = readStages(params.get("stages"));
  const workers = Number(params.get("workers") ?? 20);
  const answer = useCall<Allocated>("StageService/AllocateWorkers", {
    workerCount: workers,
    stages: rows.map(toMessage),
  });
  const change = (next: StageRow[]) => setParams({ stages: JSON.stringify(next) });
  const edit = (at: number, changes: Partial<StageRow>) =>
    change(rows.map((row, index) => (index === at ? { ...row, ...changes } : row)));
  const allocation = answer.value?.allocation;
  const bars: Bar[] = (allocation?.stages ?? []).map((stage) => ({
    label: stage.stageName,
    value: stage.workerCount,
  }));
  return (
    <>
      <section class="intro">
        <h1>Stages</h1>
        <p>
          The jobs of a pipeline pass several stages, and a worker can work in any of them. Each
          worker goes where one more lowers the sum of the scores most. A <b>score</b> is the
          workload of a stage (backlog × mean run time) over its workers and one.
        </p>
      </section>
      <label class="slider">
        {number(workers)} workers
        <input
          type="range"
          min="0"
          max="200"
          value={workers}
          onInput={(event) => setParams({ workers: event.currentTarget.value })}
        />
      </label>
      <Failure failure={answer.failure} />
      <div class="scrolled" tabIndex={0} role="region" aria-label="Stages">
        <table>
          <thead>
            <tr>
              <th>Stage</th>
              {FIELDS.map(([, name]) => <th class="figure">{name}</th>)}
              <th class="figure">Workers</th>
              <th class="figure">Score</th>
              <th class="figure">One more: worth</th>
              <th class="figure">Drained in</th>
              <td />
            </tr>
          </thead>
          <tbody>
            {rows.map((row, at) => {
              const stage = allocation?.stages[at];
              return (
                <tr key={at}>
                  <th scope="row">
                    <DraftInput
                      aria-label={`Name of stage ${at + 1}`}
                      value={row.name}
                      size={7}
                      onCommit={(name) => edit(at, { name })}
                    />
                  </th>
                  {FIELDS.map(([field, name]) => (
                    <td class="figure">
                      <DraftInput
                        class="narrow"
                        type="number"
                        min="0"
                        step={field === "runSeconds" || field === "arrivals" ? "any" : "1"}
                        aria-label={`${name} of ${row.name}`}
                        value={String(row[field] ?? "")}
                        onCommit={(text) => edit(at, { [field]: text === "" ? undefined : Number(text) })}
                      />
                    </td>
                  ))}
                  <td class="figure">
                    <b>{stage && number(stage.workerCount)}</b>
                  </td>
                  <td class="figure">{stage && spanText(stage.score / 1e6)}</td>
                  <td class="figure">{stage && spanText(stage.nextQuotient / 1e6)}</td>
                  <td class="figure">
                    {stage &&
                      (stage.drainTimeMicros === undefined
                        ? "never"
                        : spanText(Number(stage.drainTimeMicros) / 1e6))}
                  </td>
                  <td>
                    {rows.length > 1 && (
                      <button
                        aria-label={`Remove ${row.name}`}
                        onClick={() => change(rows.filter((_, index) => index !== at))}
                      >
                        ×
                      </button>
                    )}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      <p class="choices">
        <button onClick={() => change([...rows, { ...EXAMPLE[0]!, name: `stage-${rows.length + 1}` }])}>
          Add a stage
        </button>
      </p>
      {bars.length > 0 && <Bars title="Workers of each stage" bars={bars} />}
      {allocation && allocation.moves.length > 0 && (
        <>
          <h2>Moves</h2>
          <ul>
            {allocation.moves.map((move) => (
              <li>
                {number(move.workerCount)} from {move.fromStageName || "new workers"} to{" "}
                {move.toStageName || "no stage"}
              </li>
            ))}
          </ul>
        </>
      )}
      {allocation && allocation.starvedStages.length > 0 && (
        <p class="failure">
          Jobs wait without a worker in {allocation.starvedStages.map((one) => one.stageName).join(", ")}.
        </p>
      )}
      {allocation && allocation.unassignedWorkerCount > 0 && (
        <p class="note">{number(allocation.unassignedWorkerCount)} workers have no stage.</p>
      )}
    </>
  );
}
