import { useAsked } from "../../answers";
import type { Spread } from "../../messages";
import { Failure } from "../../parts/Failure";
import { call } from "../../rpc";
import { count } from "../../time";

const SHOWN = 24;

interface NextJob {
  groupId: string;
  jobIndex: string;
}

/** The order in which ready jobs will be leased. */
export function NextJobs({ spread }: { spread: Spread }) {
  const ready = Number(spread.counts.readyJobCount);
  const returned = Number(spread.counts.returnedJobCount);
  const { spreadName, epoch, counts } = spread;
  const question = JSON.stringify([spreadName, epoch, counts]);
  const answer = useAsked<NextJob[]>(ready > 0 ? question : undefined, async (signal) => {
    const message = { spreadName, maxNextJobCount: SHOWN };
    const described = await call<{ nextJobs: NextJob[] }>("NamedSpreadService/DescribeSpread", message, signal);
    return described.nextJobs;
  });
  if (ready === 0) return null;
  const jobs = answer.value ?? [];
  return (
    <section>
      <h2>Next turns</h2>
      <p class="note">
        {jobs.length === 0
          ? "No job is ready: leases of an earlier epoch have to end first."
          : jobs.length < ready
            ? `The first ${jobs.length} of ${count(ready, "job")}, if no group is submitted meanwhile.`
            : "All ready jobs, if no group is submitted meanwhile."}
        {returned > 0 && ` ${count(returned, "job")} to lease again ${returned === 1 ? "comes" : "come"} before them.`}
      </p>
      <Failure failure={answer.failure} />
      {jobs.length > 0 && (
        <ol class="turns">
          {jobs.map((job, turn) => (
            <li key={turn}>
              <span>{job.groupId}</span> <small>job {job.jobIndex}</small>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}
