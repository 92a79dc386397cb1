// The places of an ID, one for each kind of its schedule.

import { useAsked } from "../../answers";
import type { Assignment, Description, Schedule } from "../../messages";
import { call } from "../../rpc";
import { idOf } from "../../schedules";

/** Kinds that are drawn; a schedule may have a thousand. */
const SHOWN_KINDS = 12;

export interface KindAssignment {
  /** Empty where the schedule has no kinds. */
  kind: string;
  assignment: Assignment;
}

/** Asks for the place of an ID in each kind that is drawn. */
export function useAssignments(
  schedule: Schedule | undefined,
  description: Description | undefined,
  id: string,
  from: string | null,
) {
  const kinds = description?.kinds.slice(0, SHOWN_KINDS).map((kind) => kind.name) ?? [];
  const key =
    schedule && description && JSON.stringify([schedule, description.identity, id, from]);
  return useAsked<KindAssignment[]>(key, (signal) =>
    Promise.all(
      (kinds.length > 0 ? kinds : [""]).map(async (kind) => {
        const message = {
          schedule,
          id: idOf(id),
          nextRunCount: 4,
          ...(kind && { kind }),
          ...(from && { fromTime: from }),
        };
        return { kind, assignment: await call<Assignment>("SlotService/AssignSlot", message, signal) };
      }),
    ),
  );
}
