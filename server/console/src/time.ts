// Instants and spans, as people read and write them.

export const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

const two = (number: number) => String(number).padStart(2, "0");

/** `2026-11-27 10:37:00`, in UTC. */
export function utc(instant: Date): string {
  return instant.toISOString().replace("T", " ").replace(/\.000Z$/, "").replace("Z", "");
}

/** The same by the wall clock of a time zone. */
export function inZone(instant: Date, zone: string): string {
  const format = new Intl.DateTimeFormat("sv-SE", {
    timeZone: zone,
    dateStyle: "short",
    timeStyle: "medium",
  });
  return format.format(instant);
}

/** `10:37`, in UTC. */
export function clock(instant: Date): string {
  return `${two(instant.getUTCHours())}:${two(instant.getUTCMinutes())}`;
}

/** The seconds of proto JSON's `600s`. */
export function seconds(span: string | undefined): number {
  return span ? Number(span.replace("s", "")) : 0;
}

/** `2 h 37 min`, of at most two units. */
export function spanText(total: number): string {
  if (total < 1) return `${Math.round(total * 1_000)} ms`;
  const units: [string, number][] = [
    ["d", 86_400],
    ["h", 3_600],
    ["min", 60],
    ["s", 1],
  ];
  const parts: string[] = [];
  let rest = Math.round(total);
  for (const [name, size] of units) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0 && parts.length < 2) parts.push(`${count} ${name}`);
    else if (parts.length > 0) break;
  }
  return parts.join(" ") || "0 s";
}

/** Reads `8h`, `1h 30m`, `90s`; undefined where it is none. */
export function readSpan(text: string): string | undefined {
  const sizes: Record<string, number> = { w: 604_800, d: 86_400, h: 3_600, m: 60, s: 1, ms: 0.001 };
  const parts = text.trim().split(/\s+/);
  let total = 0;
  for (const part of parts) {
    const found = /^(\d{1,9})(w|d|h|m|min|s|ms)$/.exec(part);
    if (!found) return undefined;
    total += Number(found[1]) * (sizes[found[2] === "min" ? "m" : found[2]!] ?? 0);
  }
  return total > 0 ? `${total}s` : undefined;
}

/** `8h`, `1h 30m`: what {@link readSpan} reads. */
export function writeSpan(span: string | undefined): string {
  let rest = seconds(span);
  const parts: string[] = [];
  for (const [unit, size] of [["d", 86_400], ["h", 3_600], ["m", 60], ["s", 1]] as const) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) parts.push(`${count}${unit}`);
  }
  return parts.join(" ");
}

/** `in 1 h 49 min`, or `3 min ago`. */
export function relative(instant: Date, now: Date): string {
  const distance = (instant.getTime() - now.getTime()) / 1_000;
  return distance >= 0 ? `in ${spanText(distance)}` : `${spanText(-distance)} ago`;
}

/** `1 job`, `2 jobs`. */
export function count(value: number, noun: string): string {
  return `${number(value)} ${noun}${value === 1 ? "" : "s"}`;
}

/** With three digits at least, and no more behind the point than these need. */
export function number(value: number): string {
  if (Math.abs(value) < 1) return value.toLocaleString("en", { maximumSignificantDigits: 3 });
  return value.toLocaleString("en", { maximumFractionDigits: 2 });
}
