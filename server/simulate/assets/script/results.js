// The results, and what of them can be compared.

const parsed = (() => {
  try {
    return { results: JSON.parse(document.getElementById("results").textContent) };
  } catch (error) {
    return { error };
  }
})();
const results = parsed.results || {};
const scenario = results.scenario || {};
const seeds = scenario.seeds || [];
const cycle = exists(scenario.cycle) && scenario.cycle > 0 ? scenario.cycle : null;

/** Where a larger share of the jobs was not done, figures of the others say little. */
const NOT_DONE = 0.01;

const strategies = (results.strategies || []).map((strategy, index) => {
  const figures = strategy.figures || {};
  const feasibility = strategy.feasibility || {};
  const notDone = (figures.jobs_failed || 0) + (figures.jobs_left || 0);
  const enqueued = feasibility.jobs_enqueued || notDone + (figures.jobs_finished || 0);
  return {
    ...strategy,
    index,
    shown: true,
    figures,
    feasibility,
    enqueued,
    notDone: enqueued > 0 ? notDone / enqueued : 0,
    isOfSurvivors: notDone > NOT_DONE * enqueued,
    pilesUp: Boolean(feasibility.jobs_pile_up),
    isRanked: Boolean(strategy.ranks),
    ranks: strategy.ranks || {},
    series: strategy.series || {},
    partners: strategy.partners || [],
    // Beyond eight, colours come back, and lines are dashed.
    colour: `var(--c${(index % 8) + 1})`,
    dash: index >= 8 ? [5, 4] : undefined,
  };
});

/** The same work, placed in the same way, with other lanes: then the four criteria are about equal. */
const isLaneComparison = (() => {
  const peaks = strategies.map((one) => one.figures.peak_enqueued_per_second || 0);
  return Boolean(results.lanes) && strategies.length > 1
    && new Set(strategies.map((one) => one.kind)).size === 1
    && Math.max(...peaks) <= Math.min(...peaks) * 1.01;
})();

/** Best first; those that have no rank come last. */
const ordered = (() => {
  const found = [
    ...(results.ranking || []).map((name) => strategies.find((one) => one.name === name)),
    ...strategies,
  ].filter((one, index, all) => one && all.indexOf(one) === index);
  if (isLaneComparison) {
    const slowdown = (one) => one.figures.mean_slowdown ?? Infinity;
    found.sort((a, b) => b.isRanked - a.isRanked || (a.isRanked ? slowdown(a) - slowdown(b) : 0));
  }
  return found;
})();
/** Those that are compared: neither cut short, nor with jobs that pile up. */
const rivals = ordered.filter((one) => one.isRanked);
const winner = rivals[0];

/** What a mean over the seeds is called beside a figure. */
const overSeeds = seeds.length > 1 ? `, mean over ${seeds.length} seeds` : "";

const partners = scenario.partners || [];

/** When somebody stands still, in the order of time: `{ from, to, who }`. */
const outages = (() => {
  const all = [
    ...(scenario.outages || []).map(([from, to]) => ({ from, to, names: null })),
    ...partners.flatMap((partner) => (partner.outages || []).map(([from, to]) => ({ from, to, names: [partner.name] }))),
  ];
  const merged = [];
  for (const one of all) {
    const same = one.names && merged.find((other) => other.names && other.from === one.from && other.to === one.to);
    if (same) same.names.push(...one.names);
    else merged.push({ ...one });
  }
  return merged.sort((a, b) => a.from - b.from).map(({ from, to, names }) => ({
    from,
    to,
    short: names ? `${names.length > 2 ? `${names.length} partners` : names.map((name) => brief(name, 18)).join(", ")} down` : "nobody enqueues",
    long: names ? `${names.map((name) => brief(name)).join(", ")} ${names.length > 1 ? "are" : "is"} down` : "nobody enqueues jobs",
  }));
})();

// ---- names ----

/** A text that somebody chose, in its own direction; the whole of it where it is cut. */
function chosen(text, most = Infinity) {
  const shown = brief(text, most);
  return h("bdi", { title: shown === String(text) ? null : text, class: /\S{25}/.test(shown) ? "long-word" : null }, shown);
}
const nameOf = (strategy) => chosen(strategy.name, 70);
const swatch = (strategy) => h("span", { class: "swatch", "aria-hidden": "true", "--c": strategy.colour });
/** Why a strategy is not compared. */
const tagOf = (strategy) => (strategy.pilesUp ? "jobs pile up" : strategy.isRanked ? null : "cut short");
const tag = (strategy) => tagOf(strategy) && h("span", { class: "tag" }, tagOf(strategy));
/** A name within a sentence. */
const who = (strategy) => h("b", { class: "who" }, nameOf(strategy));
/** A name in a row of a table or of a chart. */
const named = (strategy) => h("span", { class: "named" }, swatch(strategy), h("span", {}, nameOf(strategy), tag(strategy) && [" ", tag(strategy)]));

/** A figure of finished jobs alone, where many jobs are not among them. */
const SURVIVORS = new Set(["interval_variation", "interval_mean", "interval_p05", "interval_p95", "mean_sojourn", "p95_sojourn", "mean_slowdown"]);
const starred = (strategy, key, text) => (strategy.isOfSurvivors && SURVIVORS.has(key) && text !== "–" ? `${text}*` : text);
const hasSurvivors = strategies.some((one) => one.isOfSurvivors);
const survivorsNote = () => hasSurvivors && h("p", { class: "footnote" },
  "* Of the jobs that were done, alone: more than 1 % failed or were left at the end.");
