import { inZone, relative, utc, ZONE } from "../../time";
import type { KindAssignment } from "./assignments";

/** The next runs of an ID, of all kinds, by time. */
export function Runs({ assignments, now }: { assignments: KindAssignment[]; now: Date }) {
  const runs = assignments.flatMap(({ kind, assignment }, at) =>
    assignment.pieces.flatMap((piece) => piece.nextRuns.map((run) => ({ kind, at, run }))),
  );
  runs.sort((one, other) => Date.parse(one.run.startTime) - Date.parse(other.run.startTime));
  const hasKinds = assignments.some(({ kind }) => kind !== "");
  return (
    <div class="scrolled" tabIndex={0} role="region" aria-label="Next runs">
      <table>
        <caption>Next runs</caption>
        <thead>
          <tr>
            {hasKinds && <th>Kind</th>}
            <th>UTC</th>
            {ZONE !== "UTC" && <th>{ZONE}</th>}
            <th>From now</th>
            <th>Run key</th>
          </tr>
        </thead>
        <tbody>
          {runs.slice(0, 8).map(({ kind, at, run }) => {
            const start = new Date(run.startTime);
            return (
              <tr key={run.runKey}>
                {hasKinds && (
                  <td>
                    <i class={`dot c${(at % 8) + 1}`} /> {kind}
                  </td>
                )}
                <td>{utc(start)}</td>
                {ZONE !== "UTC" && <td>{inZone(start, ZONE)}</td>}
                <td>{relative(start, now)}</td>
                <td class="key" title={`run ID ${run.runId}`}>
                  {run.runKey.replace(/^([0-9a-f]{8})[0-9a-f]{56}/, "$1…")}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
