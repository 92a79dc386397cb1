// The strategies in a table, best first, and all figures.

function rankMark(rank) {
  return exists(rank) ? h("span", { class: rank === 1 ? "rank first" : "rank" }, number(rank)) : h("span", { class: "no-rank" }, "–");
}

function rankingTable() {
  const criteria = isLaneComparison ? [...WAITING, ...CRITERIA.filter((one) => decisive.includes(one))] : compared;
  const hasMean = !isLaneComparison;
  const rows = ordered.map((strategy) => {
    const ranks = CRITERIA.map((criterion) => rankOf(strategy, criterion));
    return h("tr", { class: strategy === winner ? "winner" : null },
      h("td", { class: "place" }, strategy.isRanked ? number(rivals.indexOf(strategy) + 1) : "–"),
      h("th", { scope: "row", class: "text" }, named(strategy)),
      h("td", { class: "not-done" }, percent(strategy.notDone)),
      criteria.map((criterion) => h("td", {}, h("span", { class: "ranked" },
        rankMark(rankOf(strategy, criterion)),
        h("span", { class: "figure" }, criterion.text(strategy))))),
      hasMean && h("td", { class: "long" }, ranks.every(exists) ? number(ranks.reduce((a, b) => a + b, 0) / ranks.length) : "–"),
    );
  });
  const table = h("table", { id: "ranking" },
    h("caption", { class: "unseen" }, "The strategies, best first: the rank by each criterion, and the figure behind it"),
    h("thead", {}, h("tr", {},
      h("th", { scope: "col", class: "place" }, h("span", { class: "unseen" }, "Place")),
      h("th", { scope: "col", class: "text" }, "Strategy"),
      h("th", { scope: "col" }, "Not done"),
      criteria.map((criterion) => h("th", { scope: "col" },
        h("span", { class: "long" }, criterion.title),
        h("span", { class: "short", "aria-hidden": "true" }, criterion.short))),
      hasMean && h("th", { scope: "col", class: "long" }, "Mean rank"))),
    h("tbody", {}, rows));
  return h("div", { class: "ranking panel" }, scroller("The strategies and their ranks", table),
    strategies.some((one) => !one.isRanked) && h("p", { class: "footnote" },
      "Where jobs pile up, or where the run was cut short, a strategy has no rank: its figures are those of the jobs that got through."),
    survivorsNote());
}

// By group, how figures are called and written, and which way is better (1: more, -1: less).
const long = (value) => duration(value, 3);
const FIGURES = [
  ["Feasibility", null, [
    ["workers_needed", "Workers needed on average", number],
    ["workers_available", "Workers available on average", number],
    ["enqueued", "Jobs enqueued", whole],
    ["jobs_finished", "Jobs finished", whole, 1],
    ["jobs_failed", "Jobs failed", whole, -1],
    ["jobs_left", "Jobs left at the end", whole, -1],
    ["never_served", "Users never served", number, -1],
  ]],
  ["Consistent delay", "consistent_delay", [
    ["interval_variation", "Variation of the interval", percent, -1],
    ["interval_mean", "Mean interval", long],
    ["interval_p05", "5th percentile of the interval", long],
    ["interval_p95", "95th percentile of the interval", long],
  ]],
  ["Spikes of jobs", "no_spikes", [
    ["peak_enqueued_per_second", "Most jobs enqueued in a second", number, -1],
    ["max_queue_depth", "Deepest queue (jobs)", number, -1],
  ]],
  ["Even throughput", "even_throughput", [
    ["throughput_variation", "Variation of the throughput", percent, -1],
    ["utilization", "Workers' time in use (busy)", percent],
  ]],
  ["Lock conflicts", "no_conflicts", [
    ["lock_conflicts", "Lock conflicts", number, -1],
    ["wasted_ratio", "Work wasted", percent, -1],
  ]],
  ["Waiting in the queue", null, [
    ["mean_wait", "Mean wait", duration, -1],
    ["p50_wait", "Median wait", duration, -1],
    ["p95_wait", "95th percentile of the wait", duration, -1],
    ["p99_wait", "99th percentile of the wait", duration, -1],
    ["mean_sojourn", "Mean time until done", duration, -1],
    ["p95_sojourn", "95th percentile of the time until done", duration, -1],
    ["mean_slowdown", "Mean slowdown (time until done ÷ run time)", number, -1],
  ]],
];

const valueOf = (key) => (strategy) =>
  (key === "enqueued" ? strategy.enqueued : strategy.figures[key] ?? strategy.feasibility[key]);

function figureGroups() {
  const groups = FIGURES.map(([title, rank, lines]) => [title, rank, lines.map(([key, label, format, better = 0]) => [valueOf(key), label, format, better, key])]);
  // Figures that this page does not know yet are shown as they are called.
  const known = new Set(FIGURES.flatMap(([, , lines]) => lines.map(([key]) => key)));
  const more = new Set(strategies.flatMap((one) => Object.keys(one.figures)).filter((key) => !known.has(key)));
  if (more.size > 0) {
    groups.push(["Other", null, [...more].map((key) => [valueOf(key), key.replace(/_/g, " "), number])]);
  }
  for (const [place, partner] of (ordered[0]?.partners || []).entries()) {
    const of = (key) => (one) => one.partners[place]?.[key];
    groups.push([chosen(`Partner: ${brief(partner.name)}`), null, [
      [of("jobs_finished"), "Jobs finished", whole, 1],
      [of("throttled"), "Attempts refused", whole, -1],
      [of("failed"), "Attempts unanswered (in outages)", whole, -1],
      [of("mean_wait"), "Mean wait", duration, -1],
    ]]);
  }
  const late = (key) => (one) => one.late_runs?.[key];
  if (ordered.some((one) => one.late_runs)) {
    groups.push(["Outages of the producer", null, [
      [late("late"), "Runs that came late", whole],
      [late("superseded"), "Superseded by the next run", whole, -1],
      [late("dropped"), "Dropped", whole, -1],
      [(one) => one.least_kind_distance, "Least time between kinds of a user", duration, 1],
    ]]);
  }
  return groups;
}

/** A difference below a hundredth is none: nothing is in bold then. */
function bestOf(values, better) {
  const found = values.filter((value, index) => exists(value) && ordered[index].isRanked);
  if (!better || found.length < 2) return () => false;
  const best = better > 0 ? Math.max(...found) : Math.min(...found);
  const isClose = (value) => Math.abs(value - best) <= 0.01 * Math.abs(best);
  if (found.every(isClose)) return () => false;
  return (value, index) => exists(value) && ordered[index].isRanked && isClose(value);
}

function allFigures() {
  const width = ordered.length + 1;
  const make = () => {
    const body = figureGroups().map(([title, rank, lines]) => h("tbody", {},
      h("tr", { class: "group" }, h("th", { scope: "rowgroup", colspan: width, class: "text" }, h("span", {}, title))),
      rank && h("tr", {}, h("th", { scope: "row", class: "text" }, "Rank"),
        ordered.map((one) => h("td", {}, rankMark(one.ranks[rank])))),
      lines.map(([of, label, format, better, key]) => {
        const values = ordered.map(of);
        const isBest = bestOf(values, better);
        return h("tr", {}, h("th", { scope: "row", class: "text" }, label),
          values.map((value, index) => h("td", { class: isBest(value, index) ? "best" : null },
            starred(ordered[index], key, format(value)))));
      })));
    return h("div", { class: "all-panel panel" },
      h("p", { class: "caption" }, `Best strategy first. In bold: the best of a row, and what is within 1${GAP}% of it${overSeeds && `. Means over ${seeds.length} seeds`}.`),
      scroller("All figures",
      h("table", { class: "all" },
        h("caption", { class: "unseen" }, "All figures of all strategies"),
        h("thead", {}, h("tr", {}, h("th", { scope: "col", class: "text" }, "Figure"),
          ordered.map((one) => h("th", { scope: "col" }, named(one))))),
        body)), survivorsNote());
  };
  return h("details", { id: "all-figures" }, h("summary", {}, "All figures and ranks"), make());
}
