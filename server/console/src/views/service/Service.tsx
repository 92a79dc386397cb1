import { useRef } from "preact/hooks";
import { useAsked, useCall, usePolled } from "../../answers";
import type { ServerInfo } from "../../messages";
import { Failure } from "../../parts/Failure";
import { read } from "../../rpc";
import { number, spanText } from "../../time";
import { parse, refusals, type Sample, traffic, valueOf } from "./metrics";

const POLL_MILLIS = 2_000;

interface Reading {
  samples: Sample[];
  at: number;
}

interface Setting {
  flag: string;
  value: string;
  source: string;
}

/** What is in use of a limit. */
const USED: [string, string, string][] = [
  ["Requests in flight", "offbeat_requests_in_flight", "requests"],
  ["Bytes of messages in flight", "offbeat_message_bytes_in_flight", "bytes_in_flight"],
  ["Connections", "offbeat_connections", "connections"],
  ["Bytes of named spreads", "offbeat_spread_bytes", "spread_bytes"],
];

/** What the server has done since the page was opened, and how it is set up. */
export function Service() {
  const reading = usePolled<Reading>("metrics", POLL_MILLIS, async (signal) => ({
    samples: parse(await read("/metrics", signal)),
    at: Date.now(),
  }));
  const first = useRef<Reading>();
  first.current ??= reading.value;
  const info = useCall<ServerInfo>("ServerInfoService/GetServerInfo", {});
  const settings = useAsked("settings", async (signal) =>
    (JSON.parse(await read("/console/settings", signal)) as { settings: Setting[] }).settings,
  );
  const [before, now] = [first.current, reading.value];
  const rows = before && now ? traffic(before.samples, now.samples) : [];
  const refused = before && now ? refusals(before.samples, now.samples) : [];
  const passed = before && now ? (now.at - before.at) / 1_000 : 0;
  return (
    <>
      <section class="intro">
        <h1>Service</h1>
        <p>
          {info.value && `Offbeat ${info.value.version}, time zones ${info.value.timeZoneDatabase}. `}
          What this page has seen since it was opened{passed > 0 && `, ${spanText(passed)} ago`}. For
          more than that, let Prometheus read <a href="/metrics">/metrics</a>.
        </p>
      </section>
      <Failure failure={reading.failure ?? info.failure} />
      <h2>Calls</h2>
      {rows.length === 0 ? (
        <p class="empty">No call has ended since.</p>
      ) : (
        <div class="scrolled" tabIndex={0} role="region" aria-label="Calls">
          <table>
            <thead>
              <tr>
                <th>Method</th>
                <th class="figure">Calls</th>
                <th class="figure">a second</th>
                <th class="figure">not OK</th>
                <th class="figure">Median below</th>
                <th class="figure">99 of 100 below</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <tr key={row.method}>
                  <th scope="row">{row.method}</th>
                  <td class="figure">{number(row.count)}</td>
                  <td class="figure">{passed > 0 ? number(row.count / passed) : ""}</td>
                  <td class="figure">{number(row.refused)}</td>
                  <td class="figure">{bound(row.median)}</td>
                  <td class="figure">{bound(row.p99)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {refused.length > 0 && (
        <>
          <h2>Refusals</h2>
          <table>
            <tbody>
              {refused.map(([reason, count]) => (
                <tr key={reason}>
                  <th scope="row">{reason}</th>
                  <td class="figure">{number(count)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
      {now && (
        <>
          <h2>Limits</h2>
          <dl class="limits">
            {USED.map(([name, used, limit]) => {
              const [value, most] = [
                valueOf(now.samples, used),
                valueOf(now.samples, "offbeat_limit", ["limit", limit]),
              ];
              if (most === 0) return null;
              return (
                <div>
                  <dt>{name}</dt>
                  <dd>
                    <meter value={value} max={most} high={0.8 * most} aria-label={name} /> {number(value)} of{" "}
                    {number(most)}
                  </dd>
                </div>
              );
            })}
          </dl>
        </>
      )}
      <h2>Settings</h2>
      <div class="scrolled" tabIndex={0} role="region" aria-label="Settings">
        <table>
          <thead>
            <tr>
              <th>Flag</th>
              <th>Value</th>
              <th>From</th>
            </tr>
          </thead>
          <tbody>
            {settings.value?.map((one) => (
              <tr key={one.flag}>
                <th scope="row">
                  <code>{one.flag}</code>
                </th>
                <td class="key">{one.value}</td>
                <td>{one.source}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function bound(seconds: number | undefined): string {
  if (seconds === undefined) return "";
  return seconds === Infinity ? "more" : spanText(seconds);
}
