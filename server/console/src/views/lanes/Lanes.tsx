import { useAsked } from "../../answers";
import { Bars } from "../../parts/Bars";
import { DraftArea, DraftInput } from "../../parts/Draft";
import { Failure } from "../../parts/Failure";
import { call } from "../../rpc";
import { setParams } from "../../router";
import { number, readSpan, seconds, spanText } from "../../time";
import type { ViewProps } from "../props";

interface Performance {
  meanSlowdown: number;
  p95Slowdown: number;
  meanWait: string;
  p95Wait: string;
  meanSojourn: string;
  wastedRatio: number;
  stable: boolean;
}

interface Plan {
  laneSet?: { lanes: { name: string; workerCount?: number; attemptTimeout?: string }[] };
  withLanes?: Performance;
  withoutLanes: Performance;
  cutoffs: { cutoff: string; meanSlowdown?: number; stable: boolean }[];
  messages: string[];
  utilization: number;
}

const FIGURES: [string, (performance: Performance) => string][] = [
  ["Mean slowdown", (one) => number(one.meanSlowdown)],
  ["95 % of slowdowns below", (one) => number(one.p95Slowdown)],
  ["Mean wait", (one) => spanText(seconds(one.meanWait))],
  ["95 % of waits below", (one) => spanText(seconds(one.p95Wait))],
  ["Mean time to the end", (one) => spanText(seconds(one.meanSojourn))],
  ["Work that is wasted", (one) => `${number(one.wastedRatio * 100)} %`],
];

/** Run times as the request has them: of pasted samples, or two percentiles. */
function runTimes(pasted: string, p50: string, p90: string): object {
  const samples = pasted.split(/[\s,;]+/).filter(Boolean).map(Number).filter((one) => one > 0);
  if (samples.length > 0) {
    return { samples: { runTimeMicros: samples.map((one) => String(Math.round(one * 1e6))) } };
  }
  return { percentiles: { p50: readSpan(p50) ?? p50, p90: readSpan(p90) ?? p90 } };
}

/** Whether express and slow lanes pay, for run times that the reader types. */
export function Lanes({ params }: ViewProps) {
  const pasted = params.get("samples") ?? "";
  const [p50, p90] = [params.get("p50") ?? "1s", params.get("p90") ?? "20s"];
  const [rate, workers] = [params.get("rate") ?? "1", params.get("workers") ?? "20"];
  const message = {
    ...runTimes(pasted, p50, p90),
    arrivalRate: Number(rate),
    workerCount: Number(workers),
  };
  const answer = useAsked<Plan>(JSON.stringify(message), (signal) =>
    call<Plan>("v1beta1.LanePlanningService/PlanLanes", message, signal),
  );
  const plan = answer.value;
  const field = (name: string, label: string, value: string) => (
    <label>
      {label}
      <DraftInput size={9} value={value} onCommit={(text) => setParams({ [name]: text })} />
    </label>
  );
  return (
    <>
      <section class="intro">
        <h1>Lanes</h1>
        <p>
          Short jobs that wait behind long ones have a high <b>slowdown</b>: the time from arrival to
          end over the run time. An express lane stops a job at a timeout and moves it to the slow
          lane. Whether that pays depends on the run times.
        </p>
      </section>
      <div class="fields">
        {field("p50", "Median run time", p50)}
        {field("p90", "90 % below", p90)}
        {field("rate", "Jobs a second", rate)}
        {field("workers", "Workers", workers)}
        <label class="wide">
          or paste run times, in seconds
          <DraftArea rows={2} value={pasted} onCommit={(samples) => setParams({ samples })} />
        </label>
      </div>
      <Failure failure={answer.failure} />
      {!plan && !answer.failure && <p class="note">Simulating streams of jobs …</p>}
      {plan && (
        <>
          {plan.messages.map((sentence) => <p>{sentence}</p>)}
          <div class="scrolled" tabIndex={0} role="region" aria-label="With and without lanes">
            <table>
              <thead>
                <tr>
                  <th>Workers are busy {number(plan.utilization * 100)} % of the time</th>
                  <th class="figure">One queue</th>
                  {plan.withLanes && <th class="figure">The best lanes</th>}
                </tr>
              </thead>
              <tbody>
                {FIGURES.map(([name, text]) => (
                  <tr key={name}>
                    <th scope="row">{name}</th>
                    <td class="figure">{text(plan.withoutLanes)}</td>
                    {plan.withLanes && <td class="figure">{text(plan.withLanes)}</td>}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          {plan.laneSet && (
            <p>
              The best lanes:{" "}
              {plan.laneSet.lanes
                .map(
                  (lane) =>
                    `${lane.name} with ${number(lane.workerCount ?? 0)} workers` +
                    (lane.attemptTimeout ? `, stops at ${spanText(seconds(lane.attemptTimeout))}` : ""),
                )
                .join("; ")}
              .
            </p>
          )}
          {plan.cutoffs.length > 0 && (
            <Bars
              title="Mean slowdown by the timeout between two lanes; without a bar the workers do not keep up"
              bars={plan.cutoffs.map((one) => ({
                label: spanText(seconds(one.cutoff)),
                value: one.stable ? (one.meanSlowdown ?? 0) : 0,
              }))}
              levels={[{ name: "one queue", value: plan.withoutLanes.meanSlowdown }]}
            />
          )}
        </>
      )}
    </>
  );
}
