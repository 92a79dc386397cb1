import { useAsked } from "../../answers";
import type { Kind, Schedule, ScheduleSpec } from "../../messages";
import { DraftArea, DraftInput } from "../../parts/Draft";
import { setParams } from "../../router";
import type { CallFailure } from "../../rpc";
import { EXAMPLE, listSchedules, nameOf } from "../../schedules";
import { readSpan, writeSpan } from "../../time";

interface ChooserProps {
  name: string | null;
  spec: string | null;
  schedule: Schedule | undefined;
  failure: CallFailure | undefined;
}

/** Chooses a schedule that the server has loaded, or takes one that is typed. */
export function ScheduleChooser({ name, spec, schedule, failure }: ChooserProps) {
  const loaded = useAsked("schedules", listSchedules);
  const typed = schedule && "spec" in schedule ? schedule.spec : undefined;
  const choose = (chosen: string) =>
    setParams({ schedule: chosen, spec: chosen ? "" : (spec ?? ""), from: "" });
  return (
    <fieldset class="schedule">
      <legend>Schedule</legend>
      <label>
        Loaded, or typed
        <select value={name ?? ""} onChange={(event) => choose(event.currentTarget.value)}>
          <option value="">typed here</option>
          {loaded.value?.map((one) => <option value={nameOf(one)}>{nameOf(one)}</option>)}
        </select>
      </label>
      {!name && <TypedSchedule spec={typed} text={spec} failure={failure} />}
    </fieldset>
  );
}

const UNITS = ["DAY", "WEEK", "MONTH"];
const PLACEMENTS = ["PLACEMENT_HASH", "PLACEMENT_TWISTER", "PLACEMENT_FRACTION"];

interface TypedProps {
  spec: ScheduleSpec | undefined;
  text: string | null;
  failure: CallFailure | undefined;
}

function TypedSchedule({ spec, text, failure }: TypedProps) {
  const written = text || JSON.stringify(EXAMPLE);
  const change = (changes: Partial<ScheduleSpec>) => {
    const merged = Object.entries({ ...spec, ...changes });
    const kept = merged.filter(([, value]) => value !== undefined && value !== "");
    setParams({ spec: JSON.stringify(Object.fromEntries(kept)), from: "" });
  };
  const refuses = (field: string) => failure?.field?.startsWith(`schedule.spec.${field}`) || undefined;
  const calendar = spec?.calendar;
  return (
    <>
      {spec && (
        <div class="fields">
          <label>
            Cycle
            <select
              value={calendar?.unit ?? ""}
              onChange={(event) => {
                const unit = event.currentTarget.value;
                const timeZone = calendar?.timeZone ?? "UTC";
                change(
                  unit
                    ? { calendar: { unit, timeZone }, period: undefined, anchorTime: undefined }
                    : { calendar: undefined, period: "28800s" },
                );
              }}
            >
              <option value="">every …</option>
              {UNITS.map((unit) => (
                <option value={`CALENDAR_UNIT_${unit}`}>calendar {unit.toLowerCase()}</option>
              ))}
            </select>
          </label>
          {calendar ? (
            <label>
              Time zone
              <DraftInput
                value={calendar.timeZone}
                aria-invalid={refuses("calendar")}
                onCommit={(timeZone) => change({ calendar: { ...calendar, timeZone } })}
              />
            </label>
          ) : (
            <label>
              Period
              <DraftInput
                value={writeSpan(spec.period)}
                size={8}
                placeholder="8h"
                title="such as 8h, 90m or 1h 30m"
                aria-invalid={refuses("period")}
                onCommit={(text) => {
                  const period = readSpan(text);
                  if (!period) return false;
                  return change({ period });
                }}
              />
            </label>
          )}
          <label>
            Slots
            <DraftInput
              type="number"
              min="1"
              placeholder="chosen"
              value={String(spec.slotCount ?? "")}
              aria-invalid={refuses("slot_count")}
              onCommit={(text) => change({ slotCount: text === "" ? undefined : Number(text) })}
            />
          </label>
          <label>
            Kinds
            <DraftInput
              value={(spec.kinds ?? []).map((kind) => kind.name).join(", ")}
              aria-invalid={refuses("kinds")}
              onCommit={(text) => change({ kinds: readKinds(text, spec) })}
            />
          </label>
          <label>
            Placement
            <select
              value={spec.placement ?? PLACEMENTS[0]}
              onChange={(event) => change({ placement: event.currentTarget.value })}
            >
              {PLACEMENTS.map((one) => (
                <option value={one}>{one.replace("PLACEMENT_", "").toLowerCase()}</option>
              ))}
            </select>
          </label>
          <label>
            Salt
            <DraftInput
              value={spec.salt ?? ""}
              size={8}
              aria-invalid={refuses("salt")}
              onCommit={(salt) => change({ salt })}
            />
          </label>
        </div>
      )}
      <details>
        <summary>As JSON: windows, exclusions and the rest</summary>
        <DraftArea
          aria-label="ScheduleSpec as JSON"
          rows={8}
          spellcheck={false}
          value={pretty(written)}
          onCommit={(text) => setParams({ spec: text, from: "" })}
        />
      </details>
    </>
  );
}

/** Kinds by name, with the run times that they had. */
function readKinds(text: string, spec: ScheduleSpec): Kind[] | undefined {
  const names = text.split(/[\s,]+/).filter(Boolean);
  if (names.length === 0) return undefined;
  return names.map((name) => spec.kinds?.find((kind) => kind.name === name) ?? { name });
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
