import type { Spread } from "../../messages";
import { count, seconds, spanText } from "../../time";

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
        {spanText(seconds(spread.spec.leaseDuration))}; {spread.state.replace("SPREAD_STATE_", "").toLowerCase()}; epoch{" "}
        {spread.epoch}.
      </p>
      {certificate && Number(certificate.jobCount ?? 0) > 0 && (
        <>
          <h3>Certificate</h3>
          <p>
            {count(Number(certificate.jobCount), "job")} of{" "}
            {count(Number(certificate.groupCount), "group")} had a turn.{" "}
            {certificate.minGapTurns !== undefined
              ? `Two jobs of a group were at least ${count(Number(certificate.minGapTurns), "turn")} apart` +
                (certificate.bestMinGapTurns !== undefined
                  ? `; no order can do better than ${certificate.bestMinGapTurns}.`
                  : ".")
              : "No group had two jobs."}{" "}
            Pairs that were closer than the feeders allow: {certificate.closePairCount}; with these
            groups at least {certificate.closePairLowerBound}.
          </p>
        </>
      )}
    </section>
  );
}
