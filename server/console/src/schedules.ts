// Schedules in addresses, forms and requests.

import { call } from "./rpc";
import type { ListedSchedule, Schedule, ScheduleSpec } from "./messages";
import { writeSpan } from "./time";

/** The schedule that a newcomer meets. */
export const EXAMPLE: ScheduleSpec = {
  period: "28800s",
  slotCount: 48,
  kinds: [{ name: "balance" }, { name: "transactions" }],
};

export function nameOf(listed: ListedSchedule): string {
  return `${listed.reference.name}/${listed.reference.version}`;
}

/** All loaded schedules, page by page. */
export async function listSchedules(signal: AbortSignal): Promise<ListedSchedule[]> {
  const schedules: ListedSchedule[] = [];
  let pageToken = "";
  do {
    const page = await call<{ schedules: ListedSchedule[]; nextPageToken: string }>(
      "SlotService/ListSchedules",
      { pageToken },
      signal,
    );
    schedules.push(...page.schedules);
    pageToken = page.nextPageToken;
  } while (pageToken);
  return schedules;
}

/** The schedule that `name/version` or a specification in JSON means; undefined if it is neither. */
export function readSchedule(name: string | null, spec: string | null): Schedule | undefined {
  const found = /^([A-Za-z0-9._-]{1,64})\/([0-9]{1,7})$/.exec(name ?? "");
  if (found) return { reference: { name: found[1]!, version: Number(found[2]) } };
  if (!spec) return { spec: EXAMPLE };
  try {
    return { spec: JSON.parse(spec) as ScheduleSpec };
  } catch {
    return undefined;
  }
}

/** `8h`, or `day in Europe/Berlin`. */
export function cycleText(spec: ScheduleSpec): string {
  if (!spec.calendar) return writeSpan(spec.period);
  const unit = spec.calendar.unit.replace("CALENDAR_UNIT_", "").toLowerCase();
  return `${unit} in ${spec.calendar.timeZone}`;
}

/** The ID of a request: a UUID, a whole number or a text, as its form says. */
export function idOf(text: string): object {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) return { uuid: text };
  if (/^-?(0|[1-9][0-9]{0,17})$/.test(text)) return { integer: text };
  return { text };
}
