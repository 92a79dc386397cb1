import { useCall, useNow } from "../../answers";
import type { Description } from "../../messages";
import { Failure } from "../../parts/Failure";
import { setParams } from "../../router";
import { readSchedule } from "../../schedules";
import type { ViewProps } from "../props";
import { Calls } from "./Calls";
import { Conditions } from "./Conditions";
import { Reason } from "./Reason";
import { Ring } from "./Ring";
import { RunKey } from "./RunKey";
import { Runs } from "./Runs";
import { Sample } from "./Sample";
import { ScheduleChooser } from "./ScheduleChooser";
import { useAssignments } from "./assignments";

/** Where an ID stands in a cycle, when it runs next, and why. */
export function Playground({ params }: ViewProps) {
  const now = useNow();
  const [name, spec] = [params.get("schedule"), params.get("spec")];
  const id = params.get("id") ?? "acme";
  const from = params.get("from");
  const schedule = readSchedule(name, spec);
  const described = useCall<Description>(
    "SlotService/DescribeSchedule",
    schedule && { schedule, ...(from && { atTime: from }) },
  );
  const assigned = useAssignments(schedule, described.value, id, from);
  const failure = described.failure ?? assigned.failure;
  return (
    <>
      <section class="intro">
        <h1>When does it run, and why?</h1>
        <p>
          A <b>cycle</b> repeats: every 8 hours, say. It is divided into <b>slots</b>. The hash of
          an ID decides its slot and its second, so that each ID has a place of its own that every
          server computes alike, and all IDs together are spread evenly.{" "}
          <b>Kinds</b> of job that must not meet stand apart on the ring.
        </p>
      </section>
      <div class="question">
        <ScheduleChooser name={name} spec={spec} schedule={schedule} failure={described.failure} />
        <label class="id">
          ID
          <input
            value={id}
            spellcheck={false}
            aria-invalid={assigned.failure !== undefined}
            onInput={(event) => setParams({ id: event.currentTarget.value, from: "" })}
          />
        </label>
        <RunKey schedule={schedule} description={described.value} />
      </div>
      {schedule === undefined && (
        <p class="failure" role="alert">
          The schedule is no JSON.
        </p>
      )}
      <Failure failure={failure} />
      {described.value && assigned.value && schedule && (
        <>
          <div class="answer">
            <Ring
              schedule={schedule}
              description={described.value}
              assignments={assigned.value}
              now={now}
            />
            <div class="stack">
              <Runs assignments={assigned.value} now={now} />
              <Reason id={id} description={described.value} assignments={assigned.value} />
            </div>
          </div>
          <Calls schedule={schedule} id={id} kind={assigned.value[0]!.kind} />
          <Conditions
            schedule={schedule}
            description={described.value}
            assigned={assigned.value[0]!}
          />
          <Sample
            schedule={schedule}
            description={described.value}
            kind={assigned.value[0]!.kind}
            params={params}
          />
        </>
      )}
    </>
  );
}
