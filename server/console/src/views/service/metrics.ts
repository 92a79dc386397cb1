// Figures of the OpenMetrics text that the admin port answers.

export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

export function parse(text: string): Sample[] {
  const samples: Sample[] = [];
  for (const line of text.split("\n")) {
    const found = /^([a-z_]+)(?:\{(.*)\})? (\S+)/.exec(line);
    if (!found || line.startsWith("#")) continue;
    const labels: Record<string, string> = {};
    for (const [, name, value] of (found[2] ?? "").matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/g)) {
      labels[name!] = value!;
    }
    samples.push({ name: found[1]!, labels, value: Number(found[3]) });
  }
  return samples;
}

export interface MethodTraffic {
  method: string;
  /** Calls in the time between. */
  count: number;
  refused: number;
  /** Upper bounds of the buckets that hold the median and 99 of 100, in seconds. */
  median?: number;
  p99?: number;
}

function key(sample: Sample): string {
  return `${sample.name} ${JSON.stringify(sample.labels)}`;
}

/** What each series has grown by. */
function growth(before: Sample[], after: Sample[]): Sample[] {
  const old = new Map(before.map((sample) => [key(sample), sample.value]));
  return after.map((sample) => ({ ...sample, value: sample.value - (old.get(key(sample)) ?? 0) }));
}

/** The calls between two readings, by method; the busiest first. */
export function traffic(before: Sample[], after: Sample[]): MethodTraffic[] {
  const grown = growth(before, after);
  const methods = new Map<string, MethodTraffic>();
  for (const sample of grown) {
    if (sample.name !== "offbeat_requests_total" || sample.value === 0) continue;
    const method = sample.labels.method ?? "";
    const row = methods.get(method) ?? { method, count: 0, refused: 0 };
    row.count += sample.value;
    if (sample.labels.code !== "OK") row.refused += sample.value;
    methods.set(method, row);
  }
  for (const row of methods.values()) {
    const buckets = grown
      .filter(
        (sample) =>
          sample.name === "offbeat_request_duration_seconds_bucket" &&
          sample.labels.method === row.method,
      )
      .map((sample) => ({ bound: Number((sample.labels.le ?? "").replace("+Inf", "Infinity")), value: sample.value }))
      .sort((one, other) => one.bound - other.bound);
    const total = buckets.at(-1)?.value ?? 0;
    const bound = (share: number) => buckets.find((bucket) => bucket.value >= share * total)?.bound;
    if (total > 0) [row.median, row.p99] = [bound(0.5), bound(0.99)];
  }
  return [...methods.values()].sort((one, other) => other.count - one.count);
}

/** What was refused between two readings, by reason. */
export function refusals(before: Sample[], after: Sample[]): [string, number][] {
  return growth(before, after)
    .filter((sample) => sample.name === "offbeat_refusals_total" && sample.value > 0)
    .map((sample): [string, number] => [sample.labels.reason ?? "", sample.value])
    .sort((one, other) => other[1] - one[1]);
}

export function valueOf(samples: Sample[], name: string, label?: [string, string]): number {
  return samples
    .filter((sample) => sample.name === name && (!label || sample.labels[label[0]] === label[1]))
    .reduce((sum, sample) => sum + sample.value, 0);
}
