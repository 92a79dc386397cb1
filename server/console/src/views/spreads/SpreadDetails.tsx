import type { Spread } from "../../messages";

/** The certificate of a spread, in sentences. */
export function SpreadDetails({ spread }: { spread: Spread }) {
  const certificate = spread.certificate as Record<string, string | undefined> | undefined;
  const order = spread.spec.order as Record<string, string | number | undefined>;
  const policy = String(order.policy ?? "").replace("SPREAD_POLICY_", "").toLowerCase().replaceAll("_", " ");
  return (
    <section>
      <h2>{spread.spreadName}</h2>
      <p>
        {policy || "round robin"} over {order.feederCount} feeders; leases of{" "}
        {spread.spec.leaseDuration}; {spread.state.replace("SPREAD_STATE_", "").toLowerCase()}; epoch{" "}
        {spread.epoch}.
      </p>
      {certificate && Number(certificate.jobCount ?? 0) > 0 && (
        <>
          <h3>Certificate</h3>
          <p>
            {certificate.jobCount} jobs of {certificate.groupCount} groups were handed out.{" "}
            {certificate.minGapTurns !== undefined
              ? `Two jobs of a group were at least ${certificate.minGapTurns} turns apart` +
                (certificate.bestMinGapTurns !== undefined
                  ? `; no order can do better than ${certificate.bestMinGapTurns}.`
                  : ".")
              : "No group had two jobs."}{" "}
            {certificate.closePairCount} pairs were closer than the feeders allow; with these groups at least{" "}
            {certificate.closePairLowerBound} had to be.
          </p>
        </>
      )}
    </section>
  );
}
