import { useState } from "preact/hooks";
import { useAsked } from "../../answers";
import type { Spread } from "../../messages";
import { Failure } from "../../parts/Failure";
import { call, CallFailure } from "../../rpc";
import { count as plural } from "../../time";

interface DeadLetter {
  number: string;
  groupId: string;
  jobIndex: string;
  payload: string;
  attemptCount: number;
  cause: string;
}

interface Page {
  deadLetters: DeadLetter[];
  nextPageToken: string;
  epoch: string;
}

/** A payload as text, or in base64 if it is none. */
function shown(payload: string): string {
  const bytes = Uint8Array.from(atob(payload), (character) => character.charCodeAt(0));
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return `base64: ${payload}`;
  }
}

/** Jobs that failed too often: what they carry, and what becomes of them. */
export function DeadLetters({ spread, writes }: { spread: Spread; writes: boolean }) {
  const count = Number(spread.counts.deadLetterCount);
  const [changes, setChanges] = useState(0);
  const [revealed, setRevealed] = useState<string>();
  const [failure, setFailure] = useState<CallFailure>();
  const answer = useAsked<Page>(
    writes && count > 0 ? JSON.stringify([spread.spreadName, spread.epoch, count, changes]) : undefined,
    (signal) =>
      call<Page>("NamedSpreadService/ListDeadLetters", { spreadName: spread.spreadName }, signal),
  );
  if (count === 0) return <p class="note">There are no dead letters.</p>;
  if (!writes) {
    return (
      <p class="note">
        {plural(count, "dead letter")}. A server that is started with <code>--console-write</code> shows them
        here, and redrives or deletes them.
      </p>
    );
  }
  const change = async (method: string, letters: DeadLetter[]) => {
    setFailure(undefined);
    const numbers = letters.map((letter) => letter.number);
    const message = { spreadName: spread.spreadName, epoch: answer.value!.epoch, numbers };
    try {
      await call(`NamedSpreadService/${method}`, message);
    } catch (error) {
      if (error instanceof CallFailure) setFailure(error);
    }
    setChanges(changes + 1);
  };
  const letters = answer.value?.deadLetters ?? [];
  return (
    <section>
      <h2>Dead letters</h2>
      <Failure failure={failure ?? answer.failure} />
      {letters.length > 0 && (
        <>
          <div class="choices">
            <button onClick={() => change("RedriveDeadLetters", letters)}>
              Redrive {plural(letters.length, "job")}
            </button>
          </div>
          <div class="scrolled" tabIndex={0} role="region" aria-label="Dead letters">
            <table>
              <thead>
                <tr>
                  <th>Group</th>
                  <th class="figure">Job</th>
                  <th class="figure">Attempts</th>
                  <th>Cause</th>
                  <th>Payload</th>
                  <th />
                </tr>
              </thead>
              <tbody>
                {letters.map((letter) => (
                  <tr key={letter.number}>
                    <th scope="row">{letter.groupId}</th>
                    <td class="figure">{letter.jobIndex}</td>
                    <td class="figure">{letter.attemptCount}</td>
                    <td>{letter.cause.replace("DEAD_LETTER_CAUSE_", "").toLowerCase().replaceAll("_", " ")}</td>
                    <td class="key">
                      {revealed === letter.number ? (
                        shown(letter.payload)
                      ) : (
                        <button class="link" onClick={() => setRevealed(letter.number)}>
                          show
                        </button>
                      )}
                    </td>
                    <td>
                      <button onClick={() => change("RedriveDeadLetters", [letter])}>Redrive</button>{" "}
                      <button
                        onClick={() =>
                          confirm(`Delete job ${letter.jobIndex} of ${letter.groupId}?`) &&
                          change("DeleteDeadLetters", [letter])
                        }
                      >
                        Delete
                      </button>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </>
      )}
    </section>
  );
}
