// The call of the playground, as each client writes it. The tests run them as they are.

import type { Schedule, ScheduleSpec } from "../../messages";
import { idOf } from "../../schedules";
import { seconds } from "../../time";

export interface Question {
  schedule: Schedule;
  id: string;
  kind: string;
}

/** What the constructors of the clients take here; other fields belong into a file of schedules. */
const WRITTEN = new Set(["period", "calendar", "slotCount", "salt", "kinds", "placement"]);

export function canBeWritten(spec: ScheduleSpec): boolean {
  const fields = Object.keys(spec).every((field) => WRITTEN.has(field));
  const isHashed = (spec.placement ?? "PLACEMENT_HASH") === "PLACEMENT_HASH";
  return fields && isHashed && (spec.kinds ?? []).every((kind) => kind.runTime === undefined);
}

/** A text in double quotes, with the escapes that JSON, Python and Ruby share. */
function quoted(text: string): string {
  return JSON.stringify(text);
}

function rubyText(text: string): string {
  return quoted(text).replaceAll("#", "\\#");
}

function phpText(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}

/** A word of a POSIX shell. */
function shellWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function isUuid(id: string): boolean {
  return "uuid" in idOf(id);
}

function isInteger(id: string): boolean {
  return "integer" in idOf(id);
}

function unitOf(spec: ScheduleSpec): string {
  return spec.calendar!.unit.replace("CALENDAR_UNIT_", "");
}

export function curl({ schedule, id, kind }: Question): string {
  const message = { schedule, id: idOf(id), ...(kind && { kind }) };
  return [
    `curl -sS "http://\${OFFBEAT_ADDRESS:-127.0.0.1:2328}/offbeat.v1.SlotService/AssignSlot" \\`,
    `    -H 'content-type: application/json' \\`,
    `    -d ${shellWord(JSON.stringify(message))}`,
  ].join("\n");
}

export function python({ schedule, id, kind }: Question): string {
  const imports: string[] = [];
  let value = quoted("");
  if ("reference" in schedule) {
    value = quoted(`${schedule.reference.name}/${schedule.reference.version}`);
  } else {
    const spec = schedule.spec;
    const fields: string[] = [];
    if (spec.calendar) {
      const unit = `offbeat.CalendarUnit.${unitOf(spec)}`;
      fields.push(`calendar=offbeat.CalendarCycle(${unit}, ${quoted(spec.calendar.timeZone)})`);
    } else {
      imports.push("from datetime import timedelta");
      fields.push(`timedelta(seconds=${seconds(spec.period)})`);
    }
    if (spec.slotCount !== undefined) fields.push(`slot_count=${spec.slotCount}`);
    if (spec.salt) fields.push(`salt=${quoted(spec.salt)}`);
    const kinds = (spec.kinds ?? []).map((one) => quoted(one.name));
    if (kinds.length > 0) fields.push(`kinds=[${kinds.join(", ")}]`);
    value = `offbeat.Schedule(${fields.join(", ")})`;
  }
  if (isUuid(id)) imports.push("from uuid import UUID");
  const shown = isUuid(id) ? `UUID(${quoted(id)})` : isInteger(id) ? id : quoted(id);
  const label = kind ? `, kind=${quoted(kind)}` : "";
  return [
    ...imports,
    ...(imports.length > 0 ? [""] : []),
    "import offbeat",
    "",
    "client = offbeat.Client()",
    `assignment = client.assign_slot(${value}, ${shown}${label})`,
    "print(assignment.slot_index, assignment.next_run.start_time)",
  ].join("\n");
}

export function ruby({ schedule, id, kind }: Question): string {
  let value = "";
  if ("reference" in schedule) {
    value = rubyText(`${schedule.reference.name}/${schedule.reference.version}`);
  } else {
    const spec = schedule.spec;
    const fields: string[] = [];
    if (spec.calendar) {
      const unit = `unit: :${unitOf(spec).toLowerCase()}`;
      const zone = `time_zone: ${rubyText(spec.calendar.timeZone)}`;
      fields.push(`calendar: Offbeat::CalendarCycle.new(${unit}, ${zone})`);
    } else {
      fields.push(`period: ${seconds(spec.period)}`);
    }
    if (spec.slotCount !== undefined) fields.push(`slot_count: ${spec.slotCount}`);
    if (spec.salt) fields.push(`salt: ${rubyText(spec.salt)}`);
    const kinds = (spec.kinds ?? []).map((one) => rubyText(one.name));
    if (kinds.length > 0) fields.push(`kinds: [${kinds.join(", ")}]`);
    value = `Offbeat::Schedule.new(${fields.join(", ")})`;
  }
  const shown = isInteger(id) ? id : rubyText(id);
  const label = kind ? `, kind: ${rubyText(kind)}` : "";
  return [
    'require "offbeat"',
    "",
    "client = Offbeat::Client.new",
    `assignment = client.assign_slot(${value}, ${shown}${label})`,
    'puts "#{assignment.slot_index} #{assignment.next_run.start_time}"',
  ].join("\n");
}

export function php({ schedule, id, kind }: Question): string {
  let value = "";
  if ("reference" in schedule) {
    value = phpText(`${schedule.reference.name}/${schedule.reference.version}`);
  } else {
    const spec = schedule.spec;
    const fields: string[] = [];
    if (spec.calendar) {
      const unit = unitOf(spec);
      const name = `Offbeat\\CalendarUnit::${unit[0]}${unit.slice(1).toLowerCase()}`;
      const zone = phpText(spec.calendar.timeZone);
      fields.push(`calendar: new Offbeat\\CalendarCycle(${name}, ${zone})`);
    } else {
      fields.push(`period: ${seconds(spec.period)}`);
    }
    if (spec.slotCount !== undefined) fields.push(`slotCount: ${spec.slotCount}`);
    if (spec.salt) fields.push(`salt: ${phpText(spec.salt)}`);
    const kinds = (spec.kinds ?? []).map((one) => phpText(one.name));
    if (kinds.length > 0) fields.push(`kinds: [${kinds.join(", ")}]`);
    value = `new Offbeat\\Schedule(${fields.join(", ")})`;
  }
  const shown = isInteger(id) ? id : phpText(id);
  const label = kind ? `, kind: ${phpText(kind)}` : "";
  return [
    "<?php",
    "",
    "require 'clients/php/autoload.php'; // or Composer's",
    "",
    "$client = new Offbeat\\Client();",
    `$assignment = $client->assignSlot(${value}, ${shown}${label});`,
    "echo $assignment->slotIndex, ' ', $assignment->nextRun()->startTime->format('c'), PHP_EOL;",
  ].join("\n");
}

export const LANGUAGES: [string, (question: Question) => string][] = [
  ["curl", curl],
  ["Python", python],
  ["Ruby", ruby],
  ["PHP", php],
];
