// The answer: which strategy is best, or that none is.

const range = (values, format) => {
  const found = values.filter(exists);
  if (found.length === 0) return "–";
  const [low, high] = [Math.min(...found), Math.max(...found)].map(format);
  return low === high ? low : `${low} to ${high}`;
};

/** What became of the jobs of a strategy, if not all were done. */
function notDone({ figures, enqueued, notDone: share }) {
  const { jobs_failed: failed, jobs_left: left } = figures;
  if (!(failed > 0) && !(left > 0)) return [];
  const parts = [
    failed > 0 && `${whole(failed)} failed`,
    left > 0 && `${whole(left)} ${left === 1 ? "was" : "were"} left at the end`,
  ].filter(Boolean);
  return ` Of its ${whole(enqueued)} jobs, ${parts.join(" and ")}${share >= 0.001 ? ` (${percent(share)})` : ""}.`;
}

/** For how long the first jobs wait, and with whom they wait the longest. */
function waits() {
  const { p95_wait: wait } = winner.figures;
  if (!exists(wait)) return [];
  if (wait < 0.0005) return ` At least 95${GAP}% of its jobs start at once.`;
  const [slowest] = [...rivals].sort((a, b) => (b.figures.p95_wait ?? -1) - (a.figures.p95_wait ?? -1));
  return [` Of its jobs, 95${GAP}% start within ${duration(wait)}`,
    slowest.figures.p95_wait > 2 * wait ? ["; with ", who(slowest), `, it takes ${duration(slowest.figures.p95_wait)}`] : [], "."];
}

/** How the winner stands by the four criteria. */
function places() {
  const decided = CRITERIA.filter((criterion) => decisive.includes(criterion));
  const firsts = decided.filter((criterion) => rankOf(winner, criterion) === 1);
  const others = decided.filter((criterion) => rankOf(winner, criterion) > 1);
  const apart = strategies.length - rivals.length;
  if (rivals.length === 1) {
    return `Of ${strategies.length} strategies it is the only one that does this work.`;
  }
  const result = [apart === 0
    ? `Of ${strategies.length} strategies it ranks `
    : `${apart} of ${strategies.length} strategies ${apart === 1 ? "has" : "have"} no rank. Of the other ${rivals.length} it ranks `];
  if (firsts.length === CRITERIA.length) {
    result.push("first by all four criteria: ", listed(firsts.map((one) => one.phrase)), ".");
  } else if (firsts.length > 0) {
    result.push("first for ", listed(firsts.map((one) => one.phrase)), ".");
  } else {
    result.push("best by all four criteria taken together, though first by none.");
  }
  for (const criterion of others) {
    const best = byRank(criterion).find((one) => rankOf(one, criterion) === 1);
    if (!best) continue;
    result.push(` For ${criterion.phrase} it is number ${rankOf(winner, criterion)}: `,
      criterion.text(winner), ", against ", criterion.text(best), " with ", who(best), ".");
  }
  return result;
}

/** Those that cannot be told from the winner by the criteria that count. */
const tied = () => rivals.filter((one) =>
  (isLaneComparison ? WAITING : CRITERIA).every((criterion) => rankOf(one, criterion) === rankOf(winner, criterion)));

/** For the same placement with other lanes: waiting first. */
function lanesLead() {
  const result = [];
  for (const criterion of WAITING) {
    const best = byRank(criterion).find((one) => rankOf(one, criterion) === 1);
    const rank = rankOf(winner, criterion);
    if (!best || isEqual(criterion)) continue;
    const last = byRank(criterion).filter((one) => one.isRanked).pop();
    const other = rank === 1 ? last : best;
    result.push(`${result.length ? " Its" : "Its"} mean ${criterion.phrase} is `, criterion.text(winner),
      rank === 1 ? ", the least" : `, number ${rank}`, ` of ${rivals.length}; with `, who(other), " it is ", criterion.text(other), ".");
  }
  return result;
}

/** What would have to change where no strategy does the work. */
function wouldHelp() {
  const needed = Math.max(...strategies.map((one) => one.feasibility.workers_needed || 0));
  const available = Math.min(...strategies.map((one) => one.feasibility.workers_available ?? Infinity));
  const helps = [];
  if (needed > available) {
    helps.push(`More than ${whole(Math.ceil(needed))} workers all of the time (${whole(Math.ceil(needed / 0.8))} to keep them busy 80${GAP}%), or ${percent(1 - available / needed)} less work: fewer or shorter jobs.`);
  }
  partners.forEach((partner, place) => {
    const calls = Math.max(...strategies.map((one) => meanCalls(one, place)));
    if (calls > partner.max_per_second) {
      helps.push(["Fewer calls to ", chosen(partner.name, 70), `: ${number(calls)} a second are needed, ${number(partner.max_per_second)} are allowed, with any number of workers.`]);
    }
  });
  if (helps.length === 0) {
    const wasted = range(strategies.map((one) => one.figures.wasted_ratio), percent);
    helps.push(`There are enough workers for the jobs alone. What else keeps them is shown below: ${wasted} of the workers' time went into attempts without a result; outages, locks and the time to take a job may be the rest.`);
  }
  return helps;
}

function noAnswer() {
  const isOverload = strategies.some((one) => one.pilesUp);
  if (!isOverload) {
    return h("div", { class: "answer panel" },
      h("p", { class: "label" }, "For this load"),
      h("h2", { id: "verdict" }, "Nothing to compare"),
      h("p", { class: "lead" }, "The runs were stopped before their end, so no strategy has a rank. What they did until then is below."));
  }
  const of = (key) => range(strategies.map((one) => one.feasibility[key]), number);
  const left = range(strategies.map((one) => one.figures.jobs_left), whole);
  const enqueued = range(strategies.map((one) => one.enqueued), whole);
  return h("div", { class: "answer panel" },
    h("p", { class: "label" }, "For this load"),
    h("h2", { id: "verdict" }, strategies.length === 1 ? "This strategy does not do this work" : "No strategy does this work"),
    h("p", { class: "lead" }, `Jobs pile up with ${strategies.length === 1 ? "it" : "each of them"}: ${of("workers_needed")} workers are needed on average, ${of("workers_available")} are available. `
      + `Of ${enqueued} jobs, ${left} are left at the end (${range(strategies.map((one) => one.notDone), percent)} not done). The figures and charts below are of the jobs that got through.`),
    h("p", { class: "label" }, "What would help"),
    h("ul", { class: "help" }, wouldHelp().map((text) => h("li", {}, text))));
}

function answer() {
  if (!winner) return noAnswer();
  const panel = (label, name, ...lead) => h("div", { class: "answer panel", "--c": winner.colour },
    h("p", { class: "label" }, label), h("h2", { id: "winner" }, chosen(name)), h("p", { class: "lead" }, lead));
  if (strategies.length === 1) {
    return panel("The strategy", winner.name,
      "It is the only strategy of this scenario, so there is nothing to compare it with.", waits(), never(), notDone(winner));
  }
  const equals = tied();
  if (equals.length > 1) {
    const all = equals.length === rivals.length;
    return h("div", { class: "answer panel" },
      h("p", { class: "label" }, all ? "No difference for this load" : "Best for this load: there is no difference between"),
      h("h2", { id: "winner" }, listed(equals.map(nameOf))),
      h("p", { class: "lead" }, `They are equal by ${isLaneComparison ? "wait, time until done and slowdown" : "all four criteria"}, within 1${GAP}%.`,
        !all && !isLaneComparison && [" ", places()], waits(), never(), equals.map((one) => (equals.length > 1 && one.notDone >= 0.001 ? [" ", who(one), ":", notDone(one)] : []))));
  }
  if (isLaneComparison) {
    const { mean_sojourn: own } = winner.figures;
    const sooner = rivals.find((one) => rankOf(one, WAITING[2]) === 1 && one !== winner && one.figures.mean_sojourn * 1.01 < own);
    return panel("Least slowdown", winner.name, lanesLead(),
      sooner && " Long jobs pay for the short ones: which of the two counts is yours to say.", never(), notDone(winner));
  }
  return panel("Best for this load", winner.name, places(), waits(), never(), notDone(winner));
}

function never() {
  const { never_served: users } = winner.figures;
  return users > 0 ? ` It never serves ${count(users, "user", "users")}.` : [];
}
