import { useRef, useState } from "preact/hooks";
import { Bars } from "../../parts/Bars";
import { DraftArea } from "../../parts/Draft";
import { Failure } from "../../parts/Failure";
import { setParams } from "../../router";
import { CallFailure, lines } from "../../rpc";
import { number, seconds, spanText } from "../../time";
import type { ViewProps } from "..";
import { EXAMPLE } from "./example";

interface Figures {
  meanWait: string;
  p95Wait: string;
  maxBacklogCount: number;
  maxEnqueuedPerSecond: number;
  utilization: number;
  lockConflictCount: number;
  failedJobCount: number;
}

interface Strategy {
  name: string;
  overallRank: number;
  figures: Figures;
  series: { stepDuration: string; maxBacklogCounts: number[] };
}

interface Results {
  strategies: Strategy[];
  findings: string[];
  notes: string[];
}

type Event =
  | { progress: { simulatedDuration: string; totalDuration: string } }
  | { results: Results }
  | { error: { code: string; message: string } };

/** Points of a chart over time. */
const POINTS = 200;

const FIGURES: [string, (figures: Figures) => string][] = [
  ["Mean wait", (one) => spanText(seconds(one.meanWait))],
  ["95 % of waits below", (one) => spanText(seconds(one.p95Wait))],
  ["Longest backlog", (one) => number(Math.round(one.maxBacklogCount))],
  ["Most enqueued in a second", (one) => number(Math.round(one.maxEnqueuedPerSecond))],
  ["Workers busy", (one) => `${number(one.utilization * 100)} %`],
  ["Lock conflicts", (one) => number(Math.round(one.lockConflictCount))],
  ["Failed", (one) => number(Math.round(one.failedJobCount))],
];

/** What a schedule will do: a scenario, its progress, and its results. */
export function Simulations({ params }: ViewProps) {
  const scenario = params.get("scenario") ?? EXAMPLE;
  const [progress, setProgress] = useState<number>();
  const [results, setResults] = useState<Results>();
  const [failure, setFailure] = useState<CallFailure>();
  const running = useRef<AbortController>();
  const start = async () => {
    running.current?.abort();
    const run = new AbortController();
    running.current = run;
    setFailure(undefined);
    setProgress(0);
    try {
      for await (const event of lines<Event>("/console/simulate", scenario, run.signal)) {
        if ("error" in event) throw new CallFailure(event.error.code, event.error.message);
        if ("results" in event) setResults(event.results);
        if ("progress" in event) {
          const { simulatedDuration, totalDuration } = event.progress;
          setProgress(seconds(simulatedDuration) / seconds(totalDuration));
        }
      }
    } catch (error) {
      if (!run.signal.aborted) setFailure(error as CallFailure);
    }
    if (running.current === run) setProgress(undefined);
  };
  const stop = () => {
    running.current?.abort();
    setProgress(undefined);
  };
  const ranked = [...(results?.strategies ?? [])].sort((one, other) => one.overallRank - other.overallRank);
  return (
    <>
      <section class="intro">
        <h1>Simulations</h1>
        <p>
          A scenario says how many users have which jobs, how many workers there are, and what goes
          wrong. The simulator compares strategies with the same jobs: all at once, smeared at
          random, and in slots.
        </p>
      </section>
      <label>
        Scenario (TOML)
        <DraftArea
          rows={16}
          spellcheck={false}
          value={scenario}
          onCommit={(text) => setParams({ scenario: text })}
        />
      </label>
      <p class="choices started">
        {progress === undefined ? (
          <button onClick={start}>Simulate</button>
        ) : (
          <>
            <progress value={progress} max={1} aria-label="Progress" />
            <button onClick={stop}>Stop</button>
          </>
        )}
      </p>
      <Failure failure={failure} />
      {results && (
        <>
          {results.findings.map((finding) => <p>{finding}</p>)}
          <div class="scrolled" tabIndex={0} role="region" aria-label="Strategies">
            <table>
              <thead>
                <tr>
                  <th>Strategy</th>
                  <th class="figure">Rank</th>
                  {FIGURES.map(([name]) => <th class="figure">{name}</th>)}
                </tr>
              </thead>
              <tbody>
                {ranked.map((strategy) => (
                  <tr key={strategy.name}>
                    <th scope="row">{strategy.name}</th>
                    <td class="figure">{strategy.overallRank || "–"}</td>
                    {FIGURES.map(([, text]) => <td class="figure">{text(strategy.figures)}</td>)}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          {ranked.map((strategy) => (
            <Bars title={`${strategy.name}: backlog over time`} bars={backlog(strategy)} />
          ))}
          {results.notes.map((note) => <p class="note">{note}</p>)}
          <p class="note">
            <code>offbeat simulate scenario.toml --report report.html</code> writes the whole report.
          </p>
        </>
      )}
    </>
  );
}

/** The longest backlog of each part of the time. */
function backlog({ series }: Strategy) {
  const counts = series.maxBacklogCounts;
  const step = Math.max(1, Math.ceil(counts.length / POINTS));
  const bars = [];
  for (let from = 0; from < counts.length; from += step) {
    const label = spanText(from * seconds(series.stepDuration));
    bars.push({ label, value: Math.max(...counts.slice(from, from + step)) });
  }
  return bars;
}
