import { useRef, useState } from "preact/hooks";
import { DraftArea } from "../../parts/Draft";
import { Failure } from "../../parts/Failure";
import { setParams } from "../../router";
import { CallFailure, lines } from "../../rpc";
import { seconds } from "../../time";
import type { ViewProps } from "../props";
import { EXAMPLE } from "./example";
import { Report } from "./Report";

interface Results {
  json: string;
}

type Event =
  | { progress: { simulatedDuration: string; totalDuration: string } }
  | { results: Results }
  | { error: { code: string; message: string } };

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
      {results && <Report json={results.json} />}
    </>
  );
}
