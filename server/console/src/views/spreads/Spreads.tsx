import { useRef } from "preact/hooks";
import { usePolled } from "../../answers";
import type { Spread } from "../../messages";
import { Failure } from "../../parts/Failure";
import { setParams } from "../../router";
import { call, read } from "../../rpc";
import { number } from "../../time";
import type { ViewProps } from "../props";
import { DeadLetters } from "./DeadLetters";
import { NextJobs } from "./NextJobs";
import { SpreadDetails } from "./SpreadDetails";

const POLL_MILLIS = 2_000;

interface Seen {
  spreads: Spread[];
  more: boolean;
  at: number;
}

async function list(signal: AbortSignal): Promise<Seen> {
  const answer = await call<{ spreads: Spread[]; nextPageToken: string }>(
    "NamedSpreadService/ListSpreads",
    {},
    signal,
  );
  return { spreads: answer.spreads, more: answer.nextPageToken !== "", at: performance.now() };
}

/** Named spreads, live. */
export function Spreads({ params }: ViewProps) {
  const seen = usePolled<Seen>("spreads", POLL_MILLIS, list);
  const settings = usePolled("settings", 60_000, async (signal) =>
    (JSON.parse(await read("/console/settings", signal)) as { writes: boolean }).writes,
  );
  const before = useRef<[Seen | undefined, Seen | undefined]>([undefined, undefined]);
  if (seen.value !== before.current[1]) before.current = [before.current[1], seen.value];
  const rate = (spread: Spread) => {
    const [earlier, later] = before.current;
    const old = earlier?.spreads.find((one) => one.spreadName === spread.spreadName);
    if (!old || !later || old.epoch !== spread.epoch) return undefined;
    const settled = Number(spread.counts.settledJobCount) - Number(old.counts.settledJobCount);
    return settled / ((later.at - earlier!.at) / 1_000);
  };
  const spreads = seen.value?.spreads ?? [];
  const chosen = spreads.find((one) => one.spreadName === params.get("name"));
  return (
    <>
      <section class="intro">
        <h1>Named spreads</h1>
        <p>
          A spread deals the jobs of many groups in turn, so that a group with many jobs does not
          hold up the others. Producers submit groups, and consumers pull jobs with leases.
        </p>
      </section>
      <Failure failure={seen.failure} />
      {seen.value && spreads.length === 0 && (
        <p class="empty">
          No spread is open. <code>offbeat spread submit</code> opens one, as do the clients.
        </p>
      )}
      {spreads.length > 0 && (
        <div class="scrolled" tabIndex={0} role="region" aria-label="Spreads">
          <table>
            <thead>
              <tr>
                <th>Spread</th>
                <th class="figure">Groups</th>
                <th class="figure">Ready</th>
                <th class="figure">Leased</th>
                <th class="figure">Settled</th>
                <th class="figure">a second</th>
                <th class="figure">Dead letters</th>
                <th class="figure">Consumers</th>
                <th class="figure">Bytes</th>
              </tr>
            </thead>
            <tbody>
              {spreads.map((spread) => {
                const { counts } = spread;
                const settledRate = rate(spread);
                return (
                  <tr key={spread.spreadName} class={spread === chosen ? "chosen" : undefined}>
                    <th scope="row">
                      <button
                        class="link"
                        aria-pressed={spread === chosen}
                        onClick={() => setParams({ name: spread.spreadName })}
                      >
                        {spread.spreadName}
                      </button>
                    </th>
                    <td class="figure">{number(Number(counts.groupCount))}</td>
                    <td class="figure">{number(Number(counts.readyJobCount))}</td>
                    <td class="figure">{number(Number(counts.leasedJobCount))}</td>
                    <td class="figure">{number(Number(counts.settledJobCount))}</td>
                    <td class="figure">{settledRate === undefined ? "" : number(settledRate)}</td>
                    <td class="figure">{number(Number(counts.deadLetterCount))}</td>
                    <td class="figure">{number(Number(counts.consumerCount))}</td>
                    <td class="figure">{number(Number(counts.byteCount))}</td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      )}
      {seen.value?.more && <p class="note">There are more spreads than are shown.</p>}
      {chosen && <SpreadDetails spread={chosen} />}
      {chosen && <NextJobs spread={chosen} />}
      {chosen && <DeadLetters spread={chosen} writes={settings.value ?? false} />}
    </>
  );
}
