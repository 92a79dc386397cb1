import type { Description } from "../../messages";
import { number, seconds, spanText } from "../../time";
import type { KindAssignment } from "./assignments";

interface ReasonProps {
  id: string;
  description: Description;
  assignments: KindAssignment[];
}

/** Why the ID has its place, in a sentence, and how far apart its kinds are. */
export function Reason({ id, description, assignments }: ReasonProps) {
  const first = assignments[0]!;
  const [piece] = first.assignment.pieces;
  if (!piece) return null;
  const { canonicalId, hash, bucket, fraction } = first.assignment.explanation;
  const active = seconds(description.activeDuration);
  const slot = `slot ${piece.slotIndex} of ${description.spec.slotCount}`;
  const place = `${spanText(seconds(piece.cycleOffset))} into the cycle: ${slot}, ${spanText(
    seconds(piece.slotOffset),
  )} after its start`;
  return (
    <div class="reason">
      <h2>Why</h2>
      {hash !== undefined && (
        <p>
          The MD5 of <code>{canonicalId || id}</code> begins with <code>{hash}</code>. As a fraction
          that is {(Number(BigInt(`0x${hash}`)) / 2 ** 64).toFixed(6)} of {spanText(active)}, so it
          stands {place}.
        </p>
      )}
      {bucket !== undefined && (
        <p>
          <code>{canonicalId}</code> is in bucket {bucket}, which the twister shuffled to {place}.
        </p>
      )}
      {fraction !== undefined && (
        <p>
          Its fraction is {number(fraction)} of {spanText(active)}, so it stands {place}.
        </p>
      )}
      {description.kinds.length > 1 && (
        <ul>
          {description.kinds.slice(0, assignments.length).map((kind, at) => (
            <li>
              <i class={`dot c${(at % 8) + 1}`} /> <b>{kind.name}</b>
              {at > 0 &&
                ` runs ${spanText(seconds(kind.offset))} after ${description.kinds[0]!.name}, and`}{" "}
              has {spanText(seconds(kind.runBudget))} to wait and run before the next kind may start
            </li>
          ))}
        </ul>
      )}
      {description.skippedRatio > 0 && (
        <p>Exclusions skip {number(description.skippedRatio * 100)} % of the runs.</p>
      )}
      {description.deferredRatio > 0 && (
        <p>Exclusions defer {number(description.deferredRatio * 100)} % of the runs.</p>
      )}
    </div>
  );
}
