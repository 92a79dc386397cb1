import { useState } from "preact/hooks";
import type { Schedule } from "../../messages";
import { Copied } from "../../parts/Copied";
import { canBeWritten, curl, LANGUAGES } from "./snippets";

interface CallsProps {
  schedule: Schedule;
  id: string;
  kind: string;
}

/** The same question, as a program asks it. */
export function Calls({ schedule, id, kind }: CallsProps) {
  const [chosen, setChosen] = useState("curl");
  const writable = "reference" in schedule || canBeWritten(schedule.spec);
  const languages = LANGUAGES.filter(([, write]) => writable || write === curl);
  const [name, write] = languages.find(([one]) => one === chosen) ?? languages[0]!;
  return (
    <section>
      <h2>The same call</h2>
      <div class="choices" role="group" aria-label="Language">
        {languages.map(([one]) => (
          <button aria-pressed={one === name} onClick={() => setChosen(one)}>
            {one}
          </button>
        ))}
      </div>
      <Copied label={`The call in ${name}`} text={write({ schedule, id, kind })} />
      {!writable && (
        <p class="note">
          This schedule is better kept in a file that the server loads with <code>--schedules</code>:
          the clients then name it.
        </p>
      )}
    </section>
  );
}
