// What strategies are compared by: the four criteria of the simulator and, where there are lanes,
// how long jobs wait.

const span = ({ interval_p05: low, interval_p95: high }) =>
  exists(low) && exists(high) ? high - low : null;

// Each has the figure that its bars show, and how a sentence tells it.
const CRITERIA = [
  {
    key: "consistent_delay",
    figureKey: "interval_variation",
    title: "Consistent delay",
    short: "Delay",
    phrase: "consistent delay",
    format: percent,
    of: "Variation of the interval between a user's runs (standard deviation ÷ mean)",
    best: (figures, star) => exists(span(figures))
      ? [`: 90${GAP}% of the intervals between a user's runs differ by less than `, duration(span(figures)), star, "."]
      : [": the interval between a user's runs varies by ", percent(figures.interval_variation), star, "."],
    worst: (figures, star) => (exists(span(figures)) ? duration(span(figures)) : percent(figures.interval_variation)) + star,
  },
  {
    key: "no_spikes",
    figureKey: "peak_enqueued_per_second",
    title: "No spikes of jobs",
    short: "Spikes",
    phrase: "no spikes of jobs",
    format: number,
    of: "Most jobs enqueued in a second",
    best: (figures) => [" never has more than ",
      count(figures.peak_enqueued_per_second, "job", "jobs"), " enqueued in a second; its queue is ",
      number(figures.max_queue_depth), " deep at most."],
    worst: (figures) => `${count(figures.peak_enqueued_per_second, "job", "jobs")} enqueued in a second`,
  },
  {
    key: "even_throughput",
    figureKey: "throughput_variation",
    title: "Even throughput",
    short: "Even",
    phrase: "even throughput",
    format: percent,
    of: "Variation of the jobs finished in a minute (standard deviation ÷ mean)",
    best: (figures) => [": the throughput varies by ", percent(figures.throughput_variation),
      " around its mean, with workers busy ", percent(figures.utilization), " of the time."],
    worst: (figures) => percent(figures.throughput_variation),
  },
  {
    key: "no_conflicts",
    figureKey: "lock_conflicts",
    title: "No lock conflicts",
    short: "Locks",
    phrase: "few lock conflicts",
    format: number,
    of: "Attempts that found their lock held",
    best: (figures) => figures.lock_conflicts === 0
      ? [" has no lock conflicts."]
      : [" has ", count(figures.lock_conflicts, "lock conflict", "lock conflicts"), ", with ",
        percent(figures.wasted_ratio), " of its work wasted."],
    worst: (figures) => `${number(figures.lock_conflicts)}, with ${percent(figures.wasted_ratio)} of the work wasted`,
  },
];

/** How long jobs wait: what lanes are for. */
const WAITING = [
  {
    key: "mean_slowdown",
    figureKey: "mean_slowdown",
    title: "Slowdown",
    short: "Slow",
    phrase: "slowdown",
    format: number,
    of: "Time until done ÷ run time, mean over the jobs",
    best: (figures, star) => [": a job takes ", number(figures.mean_slowdown), star, " times its run time on average."],
    worst: (figures, star) => `${number(figures.mean_slowdown)}${star} times`,
  },
  {
    key: "mean_wait",
    figureKey: "mean_wait",
    title: "Wait",
    short: "Wait",
    phrase: "wait",
    format: duration,
    of: "Mean time from enqueuing to the first start",
    best: (figures) => [": jobs wait ", duration(figures.mean_wait), ` on average, and 99${GAP}% of them no longer than `,
      duration(figures.p99_wait), "."],
    worst: (figures) => duration(figures.mean_wait),
  },
  {
    key: "mean_sojourn",
    figureKey: "mean_sojourn",
    title: "Time until done",
    short: "Done",
    phrase: "time until done",
    format: duration,
    of: "Mean time from enqueuing to the end (sojourn)",
    best: (figures, star) => [": jobs are done after ", duration(figures.mean_sojourn), star, ` on average, and 95${GAP}% of them after `,
      duration(figures.p95_sojourn), star, " at most."],
    worst: (figures, star) => duration(figures.mean_sojourn) + star,
  },
];

for (const criterion of [...CRITERIA, ...WAITING]) {
  criterion.figure = (figures) => figures[criterion.figureKey];
  criterion.text = (strategy) =>
    starred(strategy, criterion.figureKey, criterion.format(criterion.figure(strategy.figures)));
}

/** As the simulator ranks: figures within a hundredth of each other have the same rank. */
function rankByFigure(strategy, criterion) {
  const own = criterion.figure(strategy.figures);
  if (!strategy.isRanked || !exists(own)) return undefined;
  return 1 + rivals.filter((other) => criterion.figure(other.figures) * 1.01 < own).length;
}

const rankOf = (strategy, criterion) =>
  (WAITING.includes(criterion) ? rankByFigure(strategy, criterion) : strategy.ranks[criterion.key]);
const byRank = (criterion) => [...ordered].sort((a, b) =>
  (rankOf(a, criterion) ?? 99) - (rankOf(b, criterion) ?? 99)
  || (criterion.figure(a.figures) ?? Infinity) - (criterion.figure(b.figures) ?? Infinity));
const isKnown = (criterion) => strategies.some((one) => exists(criterion.figure(one.figures)));
/** No contest: all that are compared have the same rank. */
const isEqual = (criterion) => rivals.length > 1 && rivals.every((one) => rankOf(one, criterion) === 1);

const compared = results.lanes && strategies.length > 1 ? [...WAITING, ...CRITERIA] : CRITERIA;
/** What makes a difference. */
const decisive = compared.filter((criterion) => isKnown(criterion) && !isEqual(criterion));

function criterionPanel(criterion) {
  const known = byRank(criterion).filter((one) => exists(criterion.figure(one.figures)));
  const ranked = known.filter((one) => one.isRanked);
  const firsts = ranked.filter((one) => rankOf(one, criterion) === 1);
  const [best] = firsts;
  const last = ranked[ranked.length - 1];
  const star = (strategy) => starred(strategy, criterion.figureKey, "");
  const sentence = [];
  if (firsts.length > 1) {
    sentence.push(...listed(firsts.map(who)), ` are equal, within 1${GAP}%: `, criterion.text(best), ".");
  } else if (best) {
    sentence.push(who(best), criterion.best(best.figures, star(best)));
  }
  if (best && rankOf(last, criterion) > 1) {
    sentence.push(" Last is ", who(last), ": ", criterion.worst(last.figures, star(last)), ".");
  }
  const figures = known.map((one) => criterion.figure(one.figures));
  const most = Math.max(...figures, Number.MIN_VALUE);
  return h("div", { class: "criterion panel" },
    h("h3", {}, criterion.title),
    h("p", {}, sentence),
    h("div", { class: "of" }, criterion.of + overSeeds),
    h("ul", { class: "bars" }, known.map((one, index) => {
      const first = rankOf(one, criterion) === 1 ? " first" : "";
      const bar = h("span", { class: "bar", "--c": one.colour });
      bar.style.width = `${(100 * figures[index]) / most}%`;
      if (figures[index] === 0) bar.style.visibility = "hidden";
      return h("li", {},
        h("span", { class: `name${first}` }, nameOf(one), tag(one) && [" ", tag(one)]),
        h("span", { class: "track", "aria-hidden": "true" }, bar),
        h("span", { class: `value${first}` }, criterion.text(one)));
    })));
}

/** What all strategies do equally well, in one sentence. */
function equalCriteria() {
  const equal = compared.filter((criterion) => isKnown(criterion) && isEqual(criterion));
  if (equal.length === 0) return null;
  const figure = (criterion) => {
    const figures = rivals.map((one) => criterion.figure(one.figures)).filter(exists);
    const [low, high] = [Math.min(...figures), Math.max(...figures)].map(criterion.format);
    return low === high ? low : `${low} to ${high}`;
  };
  return h("p", { class: "equal" },
    rivals.length === 2 ? "Both strategies are equal, " : `All ${rivals.length} strategies${rivals.length < strategies.length ? " that are compared" : ""} are equal, `,
    `within 1${GAP}%, by `,
    listed(equal.map((criterion) => [h("b", {}, criterion.phrase), ` (${criterion.of[0].toLowerCase()}${criterion.of.slice(1)}: ${figure(criterion)})`])).flat(),
    overSeeds && `. The figures are means over ${seeds.length} seeds`, ".");
}

function criteriaPart() {
  // Without somebody to compare with there is no contest; without a rank neither.
  const panels = rivals.length === 0 ? [] : strategies.length === 1 ? CRITERIA.filter(isKnown) : decisive;
  return [
    panels.length > 0 && h("div", { class: `criteria of-${panels.length > 4 ? "many" : panels.length}` }, panels.map(criterionPanel)),
    strategies.length > 1 && equalCriteria(),
  ];
}
