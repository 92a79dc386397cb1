// Draws the page of a simulation from its results. All text that comes from the results is set as
// text, never as markup: names in scenarios are whatever somebody wrote there.
(() => {
"use strict";

const root = document.documentElement;
const main = document.getElementById("report");

// ---- elements ----

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name.startsWith("--")) element.style.setProperty(name, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(3)) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
  return element;
}

/** An HTML element. Children are nodes or texts; false and null are left out. */
function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** An SVG element. */
function s(tag, attributes, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

// ---- numbers in words ----

const GAP = "\u00a0"; // between a number and its unit, where no line may end
const exists = (value) => typeof value === "number" && Number.isFinite(value);
const formats = new Map();

function decimals(value, digits) {
  if (!formats.has(digits)) {
    formats.set(digits, new Intl.NumberFormat("en", { maximumFractionDigits: digits }));
  }
  return formats.get(digits).format(value);
}

/** About three digits, and all those before the point. */
function number(value) {
  if (!exists(value)) return "–";
  if (value === 0) return "0"; // also what is -0
  const size = Math.abs(value);
  if (size >= 100) return decimals(value, 0);
  if (size >= 10) return decimals(value, 1);
  if (size >= 0.1) return decimals(value, 2);
  return decimals(value, Math.min(12, 1 - Math.floor(Math.log10(size))));
}

function percent(share) {
  if (!exists(share)) return "–";
  const value = share * 100;
  const size = Math.abs(value);
  const text = size >= 10 ? decimals(value, 0) : size >= 1 ? value.toFixed(1) : number(value);
  return `${text}${GAP}%`;
}

const UNITS = [[86400, "d"], [3600, "h"], [60, "min"]];

/** Two units that follow each other, like "7 h 48 min"; seconds alone get decimals. */
function duration(seconds, parts = 2) {
  if (!exists(seconds)) return "–";
  if (seconds < 0) return `−${duration(-seconds, parts)}`;
  if (seconds < 60) {
    if (seconds > 0 && seconds < 0.001) return `${number(seconds * 1e6)}${GAP}µs`;
    if (seconds > 0 && seconds < 0.1) return `${number(seconds * 1000)}${GAP}ms`;
    return `${number(seconds)}${GAP}s`;
  }
  // The smallest unit to show, and the time rounded to it, so that no "60 min" comes out.
  const sizes = [86400, 3600, 60, 1];
  let first = sizes.findIndex((size) => seconds >= size);
  const last = sizes[Math.min(3, first + parts - 1)];
  let rest = Math.round(seconds / last) * last;
  const words = [];
  for (const [size, unit] of [...UNITS, [1, "s"]]) {
    if (size < last) break;
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) words.push(`${decimals(count, 0)}${GAP}${unit}`);
  }
  return words.join(GAP);
}

/** A moment of the simulated time. */
function moment(seconds) {
  return seconds === 0 ? `0${GAP}h` : duration(seconds, 3);
}

const count = (value, one, many) => `${number(value)} ${value === 1 ? one : many}`;

function listed(words) {
  if (words.length < 2) return words;
  const result = [];
  words.forEach((word, index) => {
    if (index > 0) result.push(index === words.length - 1 ? " and " : ", ");
    result.push(word);
  });
  return result;
}

// ---- the results ----

let results;
try {
  results = JSON.parse(document.getElementById("results").textContent);
} catch (error) {
  main.append(h("p", { class: "failure" }, `The results in this page cannot be read: ${error.message}`));
  return;
}

const scenario = results.scenario || {};
const strategies = (results.strategies || []).map((strategy, index) => ({
  ...strategy,
  index,
  shown: true,
  figures: strategy.figures || {},
  ranks: strategy.ranks || {},
  series: strategy.series || {},
  // Beyond eight, colours come back, and lines are dashed.
  colour: `var(--c${(index % 8) + 1})`,
  dash: index >= 8 ? [5, 4] : undefined,
}));
const ordered = [
  ...(results.ranking || []).map((name) => strategies.find((one) => one.name === name)),
  ...strategies,
].filter((one, index, all) => one && all.indexOf(one) === index);
const winner = ordered[0];
const cycle = exists(scenario.cycle) && scenario.cycle > 0 ? scenario.cycle : null;

/** A name that fits into a sentence or a row: names may be as long as somebody likes. */
const brief = (name) => (String(name).length > 70 ? `${String(name).slice(0, 69)}…` : String(name));
const nameOf = (strategy) => h("bdi", { title: strategy.name.length > 70 ? strategy.name : null }, brief(strategy.name));
const swatch = (strategy) => h("span", { class: "swatch", "aria-hidden": "true", "--c": strategy.colour });
/** A name within a sentence. */
const who = (strategy) => h("b", { class: "who" }, nameOf(strategy));
const named = (strategy) => h("span", { class: "named" }, swatch(strategy), nameOf(strategy));

// ---- the four criteria ----

const span = ({ interval_p05: low, interval_p95: high }) =>
  exists(low) && exists(high) ? high - low : null;

// Each has the figure that its bars show, and how a sentence tells it.
const CRITERIA = [
  {
    key: "consistent_delay",
    title: "Consistent delay",
    short: "Delay",
    phrase: "consistent delay",
    figure: (figures) => figures.interval_variation,
    format: percent,
    of: "Variation of the interval between a user's runs (standard deviation ÷ mean)",
    best: (figures) => exists(span(figures))
      ? [": nine of ten intervals between a user's runs lie within ", duration(span(figures)), "."]
      : [": the interval between a user's runs varies by ", percent(figures.interval_variation), "."],
    worst: (figures) => exists(span(figures)) ? duration(span(figures)) : percent(figures.interval_variation),
  },
  {
    key: "no_spikes",
    title: "No ingress spikes",
    short: "Spikes",
    phrase: "ingress without spikes",
    figure: (figures) => figures.peak_enqueued_per_second,
    format: number,
    of: "Most jobs enqueued in one second",
    best: (figures) => [" never enqueues more than ",
      count(figures.peak_enqueued_per_second, "job", "jobs"), " in one second; its queue is ",
      number(figures.max_queue_depth), " deep at most."],
    worst: (figures) => `${count(figures.peak_enqueued_per_second, "job", "jobs")} in one second`,
  },
  {
    key: "even_throughput",
    title: "Even throughput",
    short: "Even",
    phrase: "even throughput",
    figure: (figures) => figures.throughput_variation,
    format: percent,
    of: "Variation of the throughput (standard deviation ÷ mean)",
    best: (figures) => [": the throughput varies by ", percent(figures.throughput_variation),
      " around its mean, with ", percent(figures.utilization), " of the workers' time in use."],
    worst: (figures) => percent(figures.throughput_variation),
  },
  {
    key: "no_conflicts",
    title: "No lock conflicts",
    short: "Locks",
    phrase: "few lock conflicts",
    figure: (figures) => figures.lock_conflicts,
    format: number,
    of: "Attempts that found their lock held",
    best: (figures) => figures.lock_conflicts === 0
      ? [" has no lock conflicts."]
      : [" has ", count(figures.lock_conflicts, "lock conflict", "lock conflicts"), ", with ",
        percent(figures.wasted_ratio), " of its work wasted."],
    worst: (figures) => `${number(figures.lock_conflicts)}, with ${percent(figures.wasted_ratio)} of the work wasted`,
  },
];

const rankOf = (strategy, criterion) => strategy.ranks[criterion.key];
const byRank = (criterion) => [...ordered].sort((a, b) => (rankOf(a, criterion) ?? 99) - (rankOf(b, criterion) ?? 99));

// All figures: by group, how they are called and written, and which way is better (1: more, -1: less).
const FIGURES = [
  ["Consistent delay", "consistent_delay", [
    ["interval_variation", "Variation of the interval", percent, -1],
    ["interval_mean", "Mean interval", (v) => duration(v, 3)],
    ["interval_p05", "5th percentile of the interval", (v) => duration(v, 3)],
    ["interval_p95", "95th percentile of the interval", (v) => duration(v, 3)],
    ["never_served", "Users never served", number, -1],
  ]],
  ["Ingress", "no_spikes", [
    ["peak_enqueued_per_second", "Most jobs enqueued in a second", number, -1],
    ["max_queue_depth", "Largest queue depth (jobs)", number, -1],
  ]],
  ["Throughput", "even_throughput", [
    ["throughput_variation", "Variation of the throughput", percent, -1],
    ["utilization", "Workers' time in use", percent],
    ["jobs_finished", "Jobs finished", number, 1],
    ["jobs_failed", "Jobs failed", number, -1],
    ["jobs_left", "Jobs left at the end", number, -1],
  ]],
  ["Locks", "no_conflicts", [
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
    ["mean_slowdown", "Mean slowdown (time until done over run time)", number, -1],
  ]],
];

function rankMark(rank) {
  return exists(rank) ? h("span", { class: rank === 1 ? "rank first" : "rank" }, number(rank)) : "–";
}

// ---- parts of the page ----

function header() {
  const seeds = scenario.seeds || [];
  const facts = [
    ["Users", number(scenario.population)],
    ["Cycle", duration(scenario.cycle)],
    ["Workers", number(scenario.workers)],
    ["Simulated time", duration(scenario.duration)],
    ["Strategies", number(strategies.length)],
    [seeds.length === 1 ? "Seed" : "Seeds", seeds.length > 6 ? number(seeds.length) : seeds.join(", ") || "–"],
  ];
  return h("header", {},
    h("p", { class: "eyebrow" }, "Offbeat simulation"),
    h("h1", {}, h("bdi", {}, scenario.name || "Unnamed scenario")),
    scenario.description && h("p", { class: "description" }, h("bdi", {}, scenario.description)),
    scenario.notes?.length > 0 && h("ul", { class: "notes", "aria-label": "How the scenario was understood" },
      scenario.notes.map((note) => h("li", {}, h("bdi", {}, note)))),
    h("dl", { class: "facts" }, facts.map(([term, text]) => h("div", {}, h("dt", {}, term), h("dd", {}, text)))),
  );
}

/** The sentences under the winner's name. */
function lead() {
  if (strategies.length === 1) {
    return ["It is the only strategy of this scenario, so there is nothing to compare it with."];
  }
  const firsts = CRITERIA.filter((criterion) => rankOf(winner, criterion) === 1);
  const others = CRITERIA.filter((criterion) => rankOf(winner, criterion) > 1);
  const result = [`Of ${strategies.length} strategies it ranks `];
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
      criterion.format(criterion.figure(winner.figures)), ", against ",
      criterion.format(criterion.figure(best.figures)), " with ", who(best), ".");
  }
  const { p95_wait: wait, never_served: never, jobs_failed: failed } = winner.figures;
  if (exists(wait)) {
    result.push(wait < 0.0005 ? ` At least 95${GAP}% of its jobs start at once.` :
      ` Of its jobs, 95${GAP}% start within ${duration(wait)}`);
    if (wait >= 0.0005) {
      const slowest = [...ordered].sort((a, b) => (b.figures.p95_wait ?? -1) - (a.figures.p95_wait ?? -1))[0];
      if (slowest !== winner && slowest.figures.p95_wait > 2 * wait) {
        result.push("; with ", who(slowest), `, it takes ${duration(slowest.figures.p95_wait)}`);
      }
      result.push(".");
    }
  }
  if (never > 0) result.push(` It never serves ${count(never, "user", "users")}.`);
  if (failed > 0) result.push(` ${count(failed, "job fails", "jobs fail")}.`);
  return result;
}

function answer() {
  return h("div", { class: "answer panel", "--c": winner.colour },
    h("p", { class: "label" }, strategies.length === 1 ? "The strategy" : "Best for this load"),
    h("h2", { id: "winner" }, h("bdi", {}, winner.name)),
    h("p", { class: "lead" }, lead()));
}

function criterionPanel(criterion) {
  const known = byRank(criterion).filter((one) => exists(criterion.figure(one.figures)));
  const children = [h("h3", {}, criterion.title)];
  if (known.length === 0) {
    children.push(h("p", {}, "The simulation has no figures for this."));
    return h("div", { class: "criterion panel" }, children);
  }
  const best = known[0];
  const worst = known[known.length - 1];
  const figures = known.map((one) => criterion.figure(one.figures));
  const same = known.length > 1 && Math.max(...figures) === Math.min(...figures);
  let sentence;
  if (same && figures[0] === 0 && criterion.key === "no_conflicts") {
    sentence = ["No strategy has a lock conflict."];
  } else if (same) {
    sentence = [`All strategies are the same: ${criterion.format(figures[0])}.`];
  } else {
    sentence = [who(best), criterion.best(best.figures)];
    if (worst !== best) sentence.push(" Last is ", who(worst), ": ", criterion.worst(worst.figures), ".");
  }
  children.push(h("p", {}, sentence));
  const most = Math.max(...figures, Number.MIN_VALUE);
  children.push(h("div", { class: "of" }, criterion.of));
  children.push(h("ul", { class: "bars" }, known.map((one, index) => {
    const first = rankOf(one, criterion) === 1 ? " first" : "";
    const bar = h("span", { class: "bar", "--c": one.colour });
    bar.style.width = `${(100 * figures[index]) / most}%`;
    if (figures[index] === 0) bar.style.visibility = "hidden";
    return h("li", {},
      h("span", { class: `name${first}`, title: one.name }, nameOf(one)),
      h("span", { class: "track", "aria-hidden": "true" }, bar),
      h("span", { class: `value${first}` }, criterion.format(figures[index])));
  })));
  return h("div", { class: "criterion panel" }, children);
}

function rankingTable() {
  const rows = ordered.map((strategy, index) => {
    const ranks = CRITERIA.map((criterion) => rankOf(strategy, criterion));
    return h("tr", { class: index === 0 && ordered.length > 1 ? "winner" : null },
      h("td", {}, number(index + 1)),
      h("th", { scope: "row", class: "text" }, named(strategy)),
      CRITERIA.map((criterion, column) => h("td", {},
        rankMark(ranks[column]),
        h("span", { class: "figure" }, criterion.format(criterion.figure(strategy.figures))))),
      h("td", { class: "long" }, ranks.every(exists) ? number(ranks.reduce((a, b) => a + b, 0) / ranks.length) : "–"),
    );
  });
  return h("div", { class: "ranking panel" }, h("table", { id: "ranking" },
    h("caption", { class: "unseen" }, "The strategies, best first: the rank by each criterion, and the figure behind it"),
    h("thead", {}, h("tr", {},
      h("th", { scope: "col" }, h("span", { class: "unseen" }, "Place")),
      h("th", { scope: "col", class: "text" }, "Strategy"),
      CRITERIA.map((criterion) => h("th", { scope: "col" },
        h("span", { class: "long" }, criterion.title),
        h("span", { class: "short", "aria-hidden": "true" }, criterion.short))),
      h("th", { scope: "col", class: "long" }, "Mean rank"))),
    h("tbody", {}, rows)));
}

function allFigures() {
  const groups = FIGURES.map(([title, rank, lines]) => [title, rank, [...lines]]);
  // Figures that this page does not know yet are shown as they are called.
  const known = new Set(FIGURES.flatMap(([, , lines]) => lines.map(([key]) => key)));
  const more = new Set(strategies.flatMap((one) => Object.keys(one.figures)).filter((key) => !known.has(key)));
  if (more.size > 0) {
    groups.push(["Other", null, [...more].map((key) => [key, key.replace(/_/g, " "), number])]);
  }
  for (const [place, partner] of (ordered[0]?.partners || []).entries()) {
    const of = (key) => (one) => one.partners?.[place]?.[key];
    groups.push([h("bdi", {}, `Partner: ${partner.name}`), null, [
      [of("jobs_finished"), "Jobs finished", number, 1],
      [of("throttled"), "Attempts refused", number, -1],
      [of("failed"), "Attempts failed in outages", number, -1],
      [of("mean_wait"), "Mean wait", duration, -1],
    ]]);
  }
  const late = (key) => (one) => one.late_runs?.[key];
  if (ordered.some((one) => one.late_runs)) {
    groups.push(["Outages of the producer", null, [
      [late("late"), "Runs that came late", number],
      [late("superseded"), "Superseded by the next run", number, -1],
      [late("dropped"), "Dropped", number, -1],
      [(one) => one.least_kind_distance, "Least time between kinds of a user", duration, 1],
    ]]);
  }
  const width = ordered.length + 1;
  const body = groups.map(([title, rank, lines]) => h("tbody", {},
    h("tr", { class: "group" }, h("th", { scope: "rowgroup", colspan: width, class: "text" }, title)),
    rank && h("tr", {}, h("th", { scope: "row", class: "text" }, "Rank"),
      ordered.map((one) => h("td", {}, rankMark(one.ranks[rank])))),
    lines.map(([key, label, format, better]) => {
      const values = ordered.map(typeof key === "function" ? key : (one) => one.figures[key]);
      const found = values.filter(exists);
      const best = better && found.length > 1 && new Set(found).size > 1
        ? (better > 0 ? Math.max(...found) : Math.min(...found)) : null;
      return h("tr", {}, h("th", { scope: "row", class: "text" }, label),
        values.map((value) => h("td", { class: best !== null && value === best ? "best" : null }, format(value))));
    })));
  return h("details", { id: "all-figures" },
    h("summary", {}, "All figures and ranks"),
    h("div", { class: "all-panel panel" }, h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "All figures" },
      h("table", { class: "all" },
        h("caption", {}, "Best strategy first; the best value of a row is in bold."),
        h("thead", {}, h("tr", {}, h("th", { scope: "col", class: "text" }, "Figure"),
          ordered.map((one) => h("th", { scope: "col" }, named(one))))),
        body))));
}

// ---- showing and hiding strategies ----

const charts = []; // each: { update(), highlight(strategy or null), redraw() }
const chips = new Map();

function refresh() {
  for (const [strategy, chip] of chips) chip.setAttribute("aria-pressed", String(strategy.shown));
  for (const chart of charts) chart.update();
}

function toggle(strategy) {
  strategy.shown = !strategy.shown;
  // Nothing at all is never what is wanted: then all of them are back.
  if (strategies.every((one) => !one.shown)) strategies.forEach((one) => { one.shown = true; });
  refresh();
}

function highlight(strategy) {
  for (const chart of charts) chart.highlight?.(strategy && strategy.shown ? strategy : null);
}

function legend() {
  const bar = h("div", { class: "legend", role: "group", "aria-label": "Strategies in the charts" });
  for (const strategy of ordered) {
    const chip = h("button", {
      type: "button",
      "aria-pressed": "true",
      title: strategy.name,
      onclick: () => { toggle(strategy); highlight(strategy); },
      onmouseenter: () => highlight(strategy),
      onmouseleave: () => highlight(null),
      onfocus: (event) => event.target.matches(":focus-visible") && highlight(strategy),
      onblur: () => highlight(null),
    }, swatch(strategy), nameOf(strategy));
    chips.set(strategy, chip);
    bar.append(chip);
  }
  // In the bar, as that stays on the screen.
  zoom.button = h("button", { type: "button", class: "reset", hidden: true, onclick: () => setZoom(null) }, "Show all of the time");
  if (strategies.length > 1) bar.append(h("span", { class: "hint" }, "Click a strategy to hide it in all charts"));
  bar.append(zoom.button);
  return bar;
}

// ---- charts over time ----

const colours = () => {
  const style = getComputedStyle(root);
  const read = (name) => style.getPropertyValue(name).trim();
  return {
    soft: read("--soft"), line: read("--line"), grid: read("--grid"), ink: read("--ink"), surface: read("--surface"),
    of: (strategy) => read(strategy.colour.slice(4, -1)),
  };
};
const family = getComputedStyle(document.body).fontFamily;
const font = `12px ${family}`;

/** Steps that people count time in. */
const TIME_STEPS = [0.001, 0.01, 0.1, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 14400, 21600,
  43200, 86400, 172800, 345600, 604800, 1209600, 2592000, 7776000, 31536000];

function timeStep(range, most) {
  return TIME_STEPS.find((step) => range / step <= most) || range / most;
}

/** Marks of a linear axis from 0, at most about `most`. */
function linearMarks(low, high, most) {
  const rough = (high - low || 1) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough) * power;
  const marks = [];
  for (let at = Math.ceil(low / step - 1e-9); at * step <= high * (1 + 1e-9); at += 1) marks.push(at * step);
  return marks;
}

const zoom = { range: null, button: null };
const overTime = [];
const sync = typeof uPlot === "function" ? uPlot.sync("time") : null;

function setZoom(range) {
  zoom.range = range;
  if (zoom.button) zoom.button.hidden = !range;
  // Not from within the chart that is dragged in, which is replaced too.
  requestAnimationFrame(() => { for (const chart of overTime) chart.redraw(); });
}

const peakOf = (strategy, key) => (strategy.series[key] || []).reduce((most, v) => (v > most ? v : most), 0);

// The best strategy is drawn last, over the others.
const drawn = [...ordered].reverse();

/** How many steps are drawn as one. */
const BUNDLES = [1, 2, 3, 4, 6, 8, 12, 18, 24, 36, 48, 72, 96, 144, 288, 576];

/**
 * The values of all strategies on one axis of time, at most `most` of them within a range of time:
 * more steps than pixels are a blur. Steps in one bundle become their maximum or their mean, as
 * the steps themselves are.
 */
function bundled(value, range, most, asMaximum) {
  const base = Math.min(...drawn.map((one) => one.series.step || 1));
  const steps = (range[1] - range[0]) / base;
  const bundle = base * (BUNDLES.find((size) => steps / size <= most) || Math.ceil(steps / most));
  const columns = drawn.map((strategy) => {
    const step = strategy.series.step || 1;
    const sums = [];
    const counts = [];
    value(strategy).forEach((one, index) => {
      if (!exists(one)) return;
      const at = Math.floor((index * step) / bundle + 1e-9);
      if (!counts[at]) {
        sums[at] = one;
        counts[at] = 1;
      } else {
        sums[at] = asMaximum ? Math.max(sums[at], one) : sums[at] + one;
        counts[at] += 1;
      }
    });
    return { sums, counts };
  });
  const length = Math.max(0, ...columns.map(({ sums }) => sums.length));
  const xs = Array.from({ length }, (_, index) => index * bundle);
  return {
    bundle,
    data: [xs, ...columns.map(({ sums, counts }) =>
      xs.map((_, at) => (counts[at] ? (asMaximum ? sums[at] : sums[at] / counts[at]) : null)))],
  };
}

/** Behind the lines: when the producer stood still. */
function shadeOutages(u) {
  const { ctx, bbox } = u;
  ctx.save();
  ctx.fillStyle = colours().grid;
  for (const [from, to] of scenario.outages || []) {
    const left = Math.max(bbox.left, u.valToPos(from, "x", true));
    const right = Math.min(bbox.left + bbox.width, u.valToPos(to, "x", true));
    if (right > left) ctx.fillRect(left, bbox.top, right - left, bbox.height);
  }
  ctx.restore();
}

class TimeChart {
  constructor({ id, title, what, asMaximum, axis, value, format, log, top }) {
    Object.assign(this, { id, title, what, asMaximum, axis, value, format, top });
    this.length = Math.max(0, ...strategies.map((one) => value(one).length * (one.series.step || 1)));
    this.step = Math.max(...strategies.map((one) => one.series.step || 0));
    this.empty = this.length === 0;
    this.canLog = log !== undefined;
    this.log = Boolean(log);
    this.plot = h("div", { class: "plot", role: "img" });
    this.tip = h("div", { class: "tip", hidden: true, "aria-hidden": "true" });
    this.buttons = this.canLog ? [
      h("button", { type: "button", onclick: () => this.setLog(false) }, "Linear"),
      h("button", { type: "button", onclick: () => this.setLog(true) }, "Logarithmic"),
    ] : [];
    this.unitText = h("span", { class: "unit" });
    this.element = h("figure", { class: "chart panel", id },
      h("figcaption", { class: "head" }, h("h3", {}, title), this.unitText,
        this.canLog && h("span", { class: "switch", role: "group", "aria-label": `Scale of: ${title}` }, this.buttons)),
      this.empty ? h("p", { class: "none" }, "The simulation has no steps to draw.") : this.plot,
      !this.empty && this.table());
    charts.push(this);
    if (!this.empty) overTime.push(this);
  }

  unit(step) {
    return `${this.what}, ${this.asMaximum ? "maximum" : "mean"} of each ${step ? duration(step) : "step"}`;
  }

  /** What the chart tells, for those who cannot see it, and for those who want figures. */
  summary() {
    return ordered.map((strategy) => {
      const values = this.value(strategy);
      const sorted = values.filter(exists).sort((a, b) => a - b);
      const most = sorted.length ? sorted[sorted.length - 1] : null;
      return {
        strategy,
        low: sorted.length ? sorted[0] : null,
        middle: sorted.length ? sorted[Math.floor(sorted.length / 2)] : null,
        most,
        when: most === null ? null : values.indexOf(most) * (strategy.series.step || 1),
      };
    });
  }

  table() {
    return h("details", {}, h("summary", {}, "In figures"),
      h("div", { class: "scroll" }, h("table", {},
        h("caption", {}, `${this.title}: ${this.unit(this.step)}`),
        h("thead", {}, h("tr", {}, ["Strategy", "Lowest", "Median", "Highest", "Highest at"].map((text, index) =>
          h("th", { scope: "col", class: index ? null : "text" }, text)))),
        h("tbody", {}, this.summary().map(({ strategy, low, middle, most, when }) => h("tr", {},
          h("th", { scope: "row", class: "text" }, named(strategy)),
          h("td", {}, this.format(low)), h("td", {}, this.format(middle)), h("td", {}, this.format(most)),
          h("td", {}, when === null ? "–" : moment(when))))))));
  }

  setLog(log) {
    this.log = log;
    this.redraw();
  }

  describe() {
    const texts = this.summary().filter(({ strategy }) => strategy.shown)
      .map(({ strategy, middle, most }) => `${strategy.name}: median ${this.format(middle)}, highest ${this.format(most)}`);
    this.plot.setAttribute("aria-label", `${this.title} (${this.unit(this.step)}) over the simulated time. ${texts.join("; ")}.`);
    this.unitText.textContent = this.unit(this.bundle) + (this.log ? ", logarithmic" : "");
    this.buttons.forEach((button, index) => button.setAttribute("aria-pressed", String((index === 1) === this.log)));
  }

  options(width) {
    const palette = colours();
    const narrow = width < 520;
    const mark = { stroke: palette.grid, width: 1 };
    const axis = {
      stroke: palette.soft, font, labelFont: font, labelGap: 2, grid: mark, ticks: { show: false },
      border: { show: false }, gap: 8, filter: (u, marks) => marks,
    };
    const logarithmic = this.log;
    return {
      width,
      height: narrow ? 220 : 236,
      padding: [8, 22, 0, 0], // on the right, half of the last mark's text
      legend: { show: false },
      focus: { alpha: 0.18 },
      cursor: {
        sync: { key: "time", setSeries: false },
        drag: { x: true, y: false, setScale: false, dist: 6 },
        points: { size: 7, width: 1.5, fill: (u, i) => u.series[i].stroke() },
        y: false,
        bind: { dblclick: () => () => { setZoom(null); return null; } },
      },
      scales: {
        x: { time: false, range: () => this.range() },
        y: {
          // log(1 + x): logarithmic for what is large, and an empty queue is still on the axis.
          distr: logarithmic ? 100 : 1,
          fwd: (value) => Math.log1p(value),
          bwd: (value) => Math.expm1(value),
          range: (u, low, high) => {
            const top = Math.max(high || 0, this.top || 0, 1e-9);
            return logarithmic ? [0, Math.max(10, top * 1.25)] : [0, top * 1.06];
          },
        },
      },
      axes: [
        {
          ...axis,
          size: 28,
          label: "Simulated time",
          labelSize: 18,
          splits: (u, index, low, high) => {
            // Within later days, the marks are as long as "1 d 12 h 30 min".
            const room = high - low < 1.5 * 86400 && high > 86400 ? 106 : 58;
            const step = timeStep(high - low, Math.max(2, u.bbox.width / devicePixelRatio / room));
            const marks = [];
            for (let at = Math.ceil(low / step - 1e-9) * step; at <= high + step * 1e-6; at += step) marks.push(at);
            return marks;
          },
          values: (u, marks) => marks.map(moment),
        },
        {
          ...axis,
          size: narrow ? 50 : 56,
          label: this.axis,
          labelSize: 22,
          splits: (u, index, low, high) => {
            if (!logarithmic) return linearMarks(low, high, 5);
            // 1 would stand too close to 0.
            const marks = [0];
            for (let at = high < 100 ? 1 : 10; at <= high; at *= high >= 1e6 ? 100 : 10) marks.push(at);
            return marks;
          },
          values: (u, marks) => marks.map((value) => (value === 0 ? "0" : this.format(value))),
        },
      ],
      series: [{}, ...drawn.map((strategy) => ({
        label: strategy.name,
        show: strategy.shown,
        stroke: () => colours().of(strategy),
        fill: strategies.length === 1 ? () => `${colours().of(strategy)}22` : undefined,
        dash: strategy.dash,
        width: strategy === winner && strategies.length > 1 ? 2 : 1.3,
        points: { show: false },
        spanGaps: true,
      }))],
      drawOrder: ["axes", "series"],
      hooks: {
        drawClear: [shadeOutages],
        setSelect: [(u) => {
          if (u.select.width > 6) {
            const range = [u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x")];
            u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
            if (range[1] - range[0] >= 3 * this.step) setZoom(range);
          }
        }],
        setCursor: [(u) => this.point(u)],
      },
    };
  }

  range() {
    return zoom.range || [0, Math.max(this.length, exists(scenario.duration) ? scenario.duration : 0)];
  }

  point(u) {
    const index = u.cursor.idx;
    const inside = this.hovered && index !== null && index !== undefined && u.cursor.left >= 0;
    this.tip.hidden = !inside;
    if (!inside) return;
    const from = u.data[0][index];
    const rows = drawn.map((strategy, at) => [strategy, u.data[at + 1][index]])
      .filter(([strategy]) => strategy.shown)
      .filter(([, value]) => exists(value))
      .sort((a, b) => b[1] - a[1]);
    this.tip.replaceChildren(
      h("div", { class: "when" }, `${moment(from)} to ${moment(from + this.bundle)}`),
      ...rows.map(([strategy, value]) =>
        h("div", { class: "row" }, swatch(strategy), nameOf(strategy), h("b", {}, this.format(value)))));
    const left = u.over.offsetLeft + u.cursor.left;
    const room = this.plot.clientWidth - this.tip.offsetWidth;
    const beside = left + 16 > room ? left - this.tip.offsetWidth - 16 : left + 16;
    this.tip.style.left = `${Math.max(0, Math.min(room, beside))}px`;
  }

  draw() {
    if (this.empty) return;
    const width = Math.floor(this.plot.clientWidth);
    if (width <= 0) return;
    const { bundle, data } = bundled(this.value, this.range(), Math.max(60, (width - 90) / 1.7), this.asMaximum);
    this.bundle = bundle;
    this.describe();
    this.u = new uPlot(this.options(width), data, this.plot);
    this.plot.append(this.tip);
    this.u.over.addEventListener("mouseenter", () => { this.hovered = true; });
    this.u.over.addEventListener("mouseleave", () => { this.hovered = false; this.tip.hidden = true; });
  }

  redraw() {
    if (this.u) {
      this.u.destroy();
      this.u = null;
    }
    this.tip.hidden = true;
    this.draw();
  }

  resize() {
    const width = Math.floor(this.plot.clientWidth);
    if (!this.u) this.draw();
    else if (width > 0 && width !== this.u.width) this.redraw();
  }

  update() {
    if (!this.u) return;
    this.u.batch(() => drawn.forEach((strategy, index) => {
      if (this.u.series[index + 1].show !== strategy.shown) this.u.setSeries(index + 1, { show: strategy.shown });
    }));
    this.describe();
  }

  highlight(strategy) {
    if (this.u) this.u.setSeries(strategy ? drawn.indexOf(strategy) + 1 : null, { focus: true });
  }
}

/** Whether peaks lie so far apart that the smaller ones would vanish on a linear scale. */
function farApart(key) {
  const peaks = strategies.map((one) => peakOf(one, key));
  return Math.max(...peaks) > 100 * Math.max(1, Math.min(...peaks));
}

function timeSection() {
  const series = (key) => (strategy) => strategy.series[key] || [];
  const list = [
    new TimeChart({
      id: "queue-depth", title: "Queue depth", what: "Jobs that wait", asMaximum: true, axis: "Waiting jobs",
      value: series("queue_depth"), format: number, log: farApart("queue_depth"),
    }),
    new TimeChart({
      id: "throughput", title: "Throughput", what: "Jobs finished per second", axis: "Jobs / s",
      value: series("finished_per_second"), format: number,
    }),
  ];
  if (strategies.some((one) => (one.series.enqueued_per_second || []).length)) {
    list.push(new TimeChart({
      id: "ingress", title: "Ingress", what: "Jobs enqueued per second", asMaximum: true, axis: "Jobs / s",
      value: series("enqueued_per_second"), format: number, log: farApart("enqueued_per_second"),
    }));
  }
  if (strategies.some((one) => (one.series.busy_workers || []).length)) {
    list.push(new TimeChart({
      id: "busy-workers", title: "Busy workers", what: "Workers with a job", axis: "Workers",
      value: series("busy_workers"), format: number,
      top: Math.max(0, ...strategies.map((one) => peakOf(one, "workers"))),
    }));
  }
  return h("section", { "aria-labelledby": "over-time" },
    h("h2", { id: "over-time" }, "Over time"),
    h("p", { class: "intro" }, "All charts share the axis of time",
      h("span", { class: "by-mouse" }, "; drag over a span to enlarge it in all of them, double-click to go back"), ".",
      (scenario.outages || []).length > 0 && " Grey: nobody enqueues jobs."),
    list.map((chart) => chart.element));
}

// ---- the distribution of the intervals ----

/** A histogram with bins as they come: the bins with something in them, and the sum. */
function bins(strategy) {
  const { edges = [], counts = [] } = strategy.interval_histogram || {};
  const list = [];
  for (let index = 0; index < counts.length && index + 1 < edges.length; index += 1) {
    if (counts[index] > 0) list.push({ from: edges[index], to: edges[index + 1], count: counts[index] });
  }
  return { list, sum: list.reduce((sum, bin) => sum + bin.count, 0) };
}

/** Where a share of the intervals is below. */
function quantile({ list, sum }, share) {
  let rest = share * sum;
  for (const bin of list) {
    if (rest <= bin.count) return bin.from + ((bin.to - bin.from) * rest) / bin.count;
    rest -= bin.count;
  }
  return list[list.length - 1].to;
}

class Ridges {
  constructor() {
    this.rows = ordered.map((strategy) => ({ strategy, bins: bins(strategy) }));
    this.grid = h("div", {});
    this.element = h("figure", { class: "chart panel", id: "intervals" },
      h("figcaption", { class: "head" },
        h("h3", {}, "Interval between a user's runs"),
        h("span", { class: "unit" }, "Share of the intervals by length; each row has its own height")),
      this.grid,
      this.table());
    charts.push(this);
  }

  table() {
    const columns = [["5 % are shorter than", 0.05], ["Median", 0.5], ["5 % are longer than", 0.95]];
    return h("details", {}, h("summary", {}, "In figures"),
      h("div", { class: "scroll" }, h("table", {},
        h("caption", {}, "Interval between a user's runs, by the histogram"),
        h("thead", {}, h("tr", {}, h("th", { scope: "col", class: "text" }, "Strategy"), h("th", { scope: "col" }, "Intervals"),
          columns.map(([text]) => h("th", { scope: "col" }, text)))),
        h("tbody", {}, this.rows.map((row) => h("tr", {},
          h("th", { scope: "row", class: "text" }, named(row.strategy)),
          h("td", {}, number(row.bins.sum)),
          columns.map(([, share]) => h("td", {}, row.bins.sum ? duration(quantile(row.bins, share), 3) : "–"))))))));
  }

  domain(rows) {
    let low = Infinity;
    let high = -Infinity;
    for (const { bins: content, strategy } of rows) {
      if (!content.sum) continue;
      low = Math.min(low, quantile(content, 0.002), strategy.figures.interval_p05 ?? Infinity);
      high = Math.max(high, quantile(content, 0.998), strategy.figures.interval_p95 ?? -Infinity);
    }
    if (low > high) return null;
    if (cycle && low < cycle * 3 && high > cycle / 3) {
      low = Math.min(low, cycle);
      high = Math.max(high, cycle);
    }
    // When all is about the same, some room, so that one value is not as wide as the page.
    const pad = Math.max((high - low) * 0.03, (high || 1) * 0.002);
    return [Math.max(0, low - pad), high + pad];
  }

  /** Row by row: the share of the intervals in each column of two pixels, as an area. */
  shape({ list, sum }, low, high, width, height) {
    const step = 2;
    const columns = new Float64Array(Math.ceil(width / step));
    const scale = columns.length / (high - low);
    for (const bin of list) {
      const from = (bin.from - low) * scale;
      const to = Math.max((bin.to - low) * scale, from + 1e-9);
      const first = Math.max(0, Math.floor(from));
      const last = Math.min(columns.length - 1, Math.ceil(to) - 1);
      for (let at = first; at <= last; at += 1) {
        columns[at] += (bin.count * (Math.min(to, at + 1) - Math.max(from, at))) / (to - from);
      }
    }
    const most = Math.max(...columns);
    const y = (value) => (height - (value / most) * height).toFixed(1);
    let path = `M0 ${height}`;
    columns.forEach((value, at) => { path += `V${y(value)}H${(at + 1) * step}`; });
    return { path: `${path}V${height}Z`, columns, share: (at) => columns[at] / sum };
  }

  draw() {
    const shown = this.rows.filter(({ strategy }) => strategy.shown);
    this.grid.replaceChildren();
    const domain = this.domain(shown);
    if (!domain) {
      this.grid.append(h("p", { class: "none" }, "No user ran twice, so there is no interval to show."));
      return;
    }
    const [low, high] = domain;
    const probe = h("div", { class: "plot" });
    this.grid.append(h("div", { class: "ridge" }, probe));
    const width = Math.floor(probe.getBoundingClientRect().width);
    this.grid.replaceChildren();
    if (width <= 0) return;
    const x = (value) => ((value - low) / (high - low)) * width;
    const step = timeStep(high - low, Math.max(2, width / 84));
    const marks = [];
    for (let at = Math.ceil(low / step - 1e-9) * step; at <= high; at += step) marks.push(at);
    const height = 54;
    const foot = 16;

    shown.forEach((row, position) => {
      const { strategy } = row;
      const { figures } = strategy;
      const last = position === shown.length - 1;
      const svg = s("svg", {
        width, height: height + foot, role: "img",
        "aria-label": `${strategy.name}: ` + (row.bins.sum
          ? `nine of ten intervals lie between ${duration(quantile(row.bins, 0.05), 3)} and ${duration(quantile(row.bins, 0.95), 3)}`
          : "no intervals"),
      });
      svg.append(...marks.map((at) => s("line", { class: "grid", x1: x(at), x2: x(at), y1: 0, y2: height + (last ? 0 : foot) })));
      if (cycle && cycle >= low && cycle <= high) {
        svg.append(s("line", { class: "cycle", x1: x(cycle), x2: x(cycle), y1: 0, y2: height + (last ? 0 : foot) }));
      }
      svg.append(s("line", { class: "axis", x1: 0, x2: width, y1: height, y2: height }));
      const tip = h("div", { class: "tip", hidden: true, "aria-hidden": "true" });
      if (row.bins.sum) {
        const shape = this.shape(row.bins, low, high, width, height - 8);
        const area = s("path", { d: shape.path, transform: "translate(0 8)" });
        area.style.fill = strategy.colour;
        svg.append(area);
        const { interval_p05: p05, interval_p95: p95 } = figures;
        if (exists(p05) && exists(p95)) {
          const bar = s("line", { x1: x(p05) - 1, x2: x(p95) + 1, y1: height + 5, y2: height + 5, "stroke-width": 3 });
          bar.style.stroke = strategy.colour;
          svg.append(bar);
        }
        svg.addEventListener("mousemove", (event) => {
          const at = event.clientX - svg.getBoundingClientRect().left;
          const column = Math.max(0, Math.min(shape.columns.length - 1, Math.floor(at / 2)));
          const value = low + ((column + 0.5) / shape.columns.length) * (high - low);
          let below = 0;
          for (let index = 0; index <= column; index += 1) below += shape.share(index);
          tip.replaceChildren(h("div", { class: "when" }, `up to ${duration(value, 3)}`),
            h("div", {}, h("b", {}, percent(Math.min(1, below))), " of the intervals"));
          tip.hidden = false;
          const room = width - tip.offsetWidth;
          tip.style.left = `${Math.max(0, Math.min(room, at + 16 > room ? at - tip.offsetWidth - 16 : at + 16))}px`;
        });
        svg.addEventListener("mouseleave", () => { tip.hidden = true; });
      }
      const spread = span(figures);
      this.grid.append(h("div", { class: "ridge" },
        h("div", { class: "about named" }, swatch(strategy), nameOf(strategy)),
        h("div", { class: "about figures" },
          exists(figures.interval_mean) && h("div", {}, "mean ", h("b", {}, duration(figures.interval_mean, 2))),
          exists(spread) && h("div", {}, "nine of ten within ", h("b", {}, duration(spread, 2))),
          !row.bins.sum && "no intervals"),
        h("div", { class: "plot" }, svg, tip)));
    });

    const axis = s("svg", { width, height: 40, "aria-hidden": "true" });
    for (const at of marks) {
      const anchor = x(at) < 22 ? "start" : x(at) > width - 22 ? "end" : "middle";
      axis.append(s("text", { x: x(at), y: 12, "text-anchor": anchor }, moment(at)));
    }
    axis.append(s("text", { x: width / 2, y: 32, "text-anchor": "middle" },
      (width < 420 ? "Interval" : "Interval between two runs of the same user") + (cycle && cycle >= low && cycle <= high ? " (dashed: the cycle)" : "")));
    this.grid.append(h("div", { class: "ridge" }, h("div", { class: "plot" }, axis)));
  }

  update() { this.draw(); }
  redraw() { this.draw(); }
  resize() {
    if (this.grid.clientWidth !== this.drawnAt) {
      this.drawnAt = this.grid.clientWidth;
      this.draw();
    }
  }
}

function intervalSection() {
  return h("section", { class: "whole", "aria-labelledby": "interval-title" },
    h("h2", { id: "interval-title" }, "How regularly a user is served"),
    h("p", { class: "intro" }, "The narrower the shape, the more a user can rely on the delay between two runs. The line below a shape spans nine of ten intervals."),
    new Ridges().element);
}

// ---- the cycle as a ring ----

class Ring {
  constructor(strategy, alone) {
    this.strategy = strategy;
    const { loads = [], kinds = [] } = strategy.slots;
    this.loads = loads;
    this.kinds = kinds;
    this.slot = cycle ? cycle / loads.length : null;
    this.most = loads.reduce((a, b) => Math.max(a, b), 0);
    this.least = loads.reduce((a, b) => Math.min(a, b), Infinity);
    this.mean = loads.reduce((a, b) => a + b, 0) / loads.length;
    this.plot = h("div", { class: "plot" });
    this.readout = h("p", { class: "readout" });
    const about = h("div", {}, this.kindTable(), this.loadTable());
    this.element = h("figure", { class: `chart panel ring${alone ? " alone" : ""}` },
      h("figcaption", { class: "head" }, h("h3", {}, named(strategy)),
        h("span", { class: "unit" }, "Length of a bar: users of the slot")),
      h("div", { class: "halves" }, h("div", {}, this.plot, this.readout), about));
    charts.push(this);
  }

  start(slot) {
    return this.slot === null ? "–" : moment(slot * this.slot);
  }

  kindTable() {
    if (!this.kinds.length) return null;
    return h("div", { class: "scroll" }, h("table", {},
      h("caption", {}, "Where the kinds of job of a user in slot 0 stand"),
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, h("span", { class: "unseen" }, "Mark")),
        h("th", { scope: "col", class: "text" }, "Kind"), h("th", { scope: "col" }, "Slot"), h("th", { scope: "col" }, "Begins at"))),
      h("tbody", {}, this.kinds.map((kind, index) => h("tr", {},
        h("td", { class: "mark" }, h("span", { class: "rank first" }, number(index + 1))),
        h("th", { scope: "row", class: "text" }, h("bdi", {}, brief(kind.name))),
        h("td", {}, number(kind.slot)),
        h("td", {}, this.start(kind.slot)))))));
  }

  /** All slots as a table, made only when somebody asks: there may be thousands. */
  loadTable() {
    const details = h("details", {}, h("summary", {}, "All slots in figures"));
    details.addEventListener("toggle", () => {
      if (!details.open || details.querySelector("table")) return;
      details.append(h("div", { class: "table-panel panel", tabindex: "0", role: "region", "aria-label": "Slots" }, h("table", {},
        h("caption", {}, "The slots of the cycle"),
        h("thead", {}, h("tr", {}, ["Slot", "Begins at", "Users"].map((text) => h("th", { scope: "col" }, text)))),
        h("tbody", {}, this.loads.map((load, slot) => h("tr", {},
          h("th", { scope: "row" }, number(slot)), h("td", {}, this.start(slot)), h("td", {}, number(load))))))));
    });
    return details;
  }

  rest() {
    this.readout.textContent = this.most === this.least
      ? `${number(this.mean)} users in each slot`
      : `${number(this.least)} to ${number(this.most)} users in a slot, ${number(this.mean)} on average (dotted)`;
  }

  draw() {
    this.element.hidden = !this.strategy.shown;
    if (!this.strategy.shown) return;
    const size = Math.min(460, Math.floor(this.plot.clientWidth));
    if (size <= 0) return;
    const step = cycle ? timeStep(cycle, 8) : 0;
    const times = [];
    for (let time = 0; cycle && time < cycle - step * 0.4; time += step) {
      times.push([time, moment(time).replace(/(h.\d+).min$/, "$1")]);
    }
    const longest = Math.max(2, ...times.map(([, text]) => text.length));
    const outer = size / 2 - 17 - longest * 6;
    const inner = outer * 0.62;
    const slots = this.loads.length;
    const angle = (slot) => (slot / slots) * 2 * Math.PI;
    const at = (radius, a) => [radius * Math.sin(a), -radius * Math.cos(a)];
    const point = (radius, a) => at(radius, a).map((v) => v.toFixed(2)).join(" ");
    const radius = (load) => inner + ((outer - inner) * load) / (this.most || 1);

    const svg = s("svg", {
      width: size, height: size, viewBox: `${-size / 2} ${-size / 2} ${size} ${size}`, role: "img",
      "aria-label": `The cycle of ${duration(cycle)} with ${slots} slots of ${this.strategy.name}: ${number(this.least)} to ${number(this.most)} users in a slot. `
        + this.kinds.map((kind) => `${kind.name} in slot ${kind.slot}`).join(", "),
    });

    // Bars, in four shades by load, from a fifth below the mean to a fifth above it. One path for each
    // shade, so that thousands of slots are cheap.
    const paths = ["", "", "", ""];
    const gap = Math.min(0.18, 0.18 * (360 / slots));
    for (let slot = 0; slot < slots; slot += 1) {
      const load = this.loads[slot];
      if (!(load > 0)) continue;
      const from = angle(slot + gap / 2);
      const to = angle(slot + 1 - gap / 2);
      const r = radius(load);
      const large = to - from > Math.PI ? 1 : 0;
      const near = (load / this.mean - 0.8) / 0.4;
      paths[Math.max(0, Math.min(3, Math.floor(near * 4)))] += `M${point(inner, from)}L${point(r, from)}`
        + `A${r.toFixed(2)} ${r.toFixed(2)} 0 ${large} 1 ${point(r, to)}L${point(inner, to)}`
        + `A${inner.toFixed(2)} ${inner.toFixed(2)} 0 ${large} 0 ${point(inner, from)}Z`;
    }
    paths.forEach((d, shade) => {
      if (!d) return;
      const bars = s("path", { d, class: "bars", "fill-opacity": 0.55 + shade * 0.15 });
      bars.style.fill = this.strategy.colour;
      svg.append(bars);
    });
    svg.append(s("circle", { class: "mean", r: radius(this.mean) }));

    // Clock times around, from the top and clockwise.
    {
      for (const [time, text] of times) {
        const a = (time / cycle) * 2 * Math.PI;
        const [x1, y1] = at(outer + 4, a);
        const [x2, y2] = at(outer + 9, a);
        const [x, y] = at(outer + 17, a);
        const side = Math.sin(a);
        svg.append(s("line", { class: "axis", x1, y1, x2, y2 }),
          s("text", {
            x, y: y + 4 - Math.cos(a) * 4, "text-anchor": Math.abs(side) < 0.2 ? "middle" : side > 0 ? "start" : "end",
          }, text));
      }
    }

    // A hand for each kind; those in the same slot stand behind one another.
    const taken = [];
    const hub = Math.max(34, inner * 0.4);
    const hands = s("g", {});
    const dots = s("g", {});
    this.kinds.forEach((kind, index) => {
      if (!exists(kind.slot)) return;
      const a = angle(kind.slot + 0.5);
      let r = inner - 15;
      while (taken.some(([x, y]) => Math.hypot(x - at(r, a)[0], y - at(r, a)[1]) < 19) && r > hub + 12) r -= 20;
      const [x, y] = at(r, a);
      taken.push([x, y]);
      const [x1, y1] = at(hub, a);
      const [x2, y2] = at(inner, a);
      hands.append(s("line", { class: "hand", x1, y1, x2, y2 }));
      dots.append(s("circle", { class: "dot", cx: x, cy: y, r: 9.5 }),
        s("text", { class: "number", x, y: y + 4, "text-anchor": "middle" }, String(index + 1)));
    });
    svg.append(hands, dots,
      s("text", { class: "hub", y: 1, "text-anchor": "middle" }, duration(cycle)),
      s("text", { y: 19, "text-anchor": "middle" }, count(slots, "slot", "slots")));

    svg.addEventListener("mousemove", (event) => {
      const box = svg.getBoundingClientRect();
      const x = event.clientX - box.left - box.width / 2;
      const y = event.clientY - box.top - box.height / 2;
      const distance = Math.hypot(x, y);
      if (distance < hub || distance > outer + 20) {
        this.rest();
        return;
      }
      const turn = (Math.atan2(x, -y) + 2 * Math.PI) % (2 * Math.PI);
      const slot = Math.min(slots - 1, Math.floor((turn / (2 * Math.PI)) * slots));
      const here = this.kinds.filter((kind) => kind.slot === slot).map((kind) => brief(kind.name));
      this.readout.textContent = `Slot ${number(slot)}, from ${this.start(slot)}: ${count(this.loads[slot], "user", "users")}`
        + (here.length ? ` (${here.join(", ")})` : "");
    });
    svg.addEventListener("mouseleave", () => this.rest());
    this.plot.replaceChildren(svg);
    this.rest();
  }

  update() { this.draw(); }
  redraw() { this.draw(); }
  resize() {
    if (this.plot.clientWidth !== this.drawnAt) {
      this.drawnAt = this.plot.clientWidth;
      this.draw();
    }
  }
}

function ringSection() {
  const list = ordered.filter((one) => one.slots && (one.slots.loads || []).length > 0);
  if (!list.length) return null;
  const section = h("section", { class: "whole", id: "rings", "aria-labelledby": "ring-title" },
    h("h2", { id: "ring-title" }, "The cycle and its slots"),
    h("p", { class: "intro" }, "A cycle begins at the top and runs clockwise. Bars of the same length mean that the users are spread evenly; "
      + "the hands show where the kinds of job of one user stand: the further apart, the less they get into each other's way."),
    h("div", { class: "rings" }, list.map((strategy) => new Ring(strategy, list.length === 1).element)));
  // Without a shown ring there is nothing for the heading to be about.
  charts.push({ update: () => { section.hidden = list.every((one) => !one.shown); }, redraw() {} });
  return section;
}

// ---- lanes ----

class LanesChart {
  constructor(lanes) {
    this.lanes = lanes;
    this.points = (lanes.cutoffs || []).filter((one) => exists(one.cutoff) && exists(one.mean_slowdown))
      .sort((a, b) => a.cutoff - b.cutoff);
    const best = [lanes.cutoff, lanes.with_lanes, lanes.one_queue];
    this.best = best.every(exists) ? best : null;
    this.plot = h("div", {
      class: "plot", role: "img",
      "aria-label": `Mean slowdown over the cutoff, for ${count(this.points.length, "cutoff", "cutoffs")}. ${this.sentence()}`,
    });
    this.tip = h("div", { class: "tip", hidden: true, "aria-hidden": "true" });
    this.unit = h("span", { class: "unit" });
    this.element = h("figure", { class: "chart panel", id: "lanes" },
      h("figcaption", { class: "head" }, h("h3", {}, "Slowdown over the cutoff"), this.unit),
      this.points.length ? this.plot : h("p", { class: "none" }, "No cutoff was simulated."),
      this.points.length > 0 && h("details", {}, h("summary", {}, "In figures"),
        h("div", { class: "table-panel panel" }, h("table", {},
          h("caption", {}, "Mean slowdown for each cutoff"),
          h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Cutoff"), h("th", { scope: "col" }, "Mean slowdown"))),
          h("tbody", {}, this.points.map((one) => h("tr", {},
            h("th", { scope: "row" }, duration(one.cutoff)), h("td", {}, number(one.mean_slowdown)))))))));
    charts.push(this);
  }

  sentence() {
    const { cutoff, one_queue: one, with_lanes: two } = this.lanes;
    if (!this.best) return exists(one) ? `One queue for all jobs has a mean slowdown of ${number(one)}.` : "";
    const text = `With a cutoff of ${duration(cutoff)}, the mean slowdown is ${number(two)}; with one queue for all jobs it is ${number(one)}.`;
    return two < one ? `${text} Lanes make it ${Number((one / two).toPrecision(2))} times smaller.` : `${text} Lanes do not help this load.`;
  }

  draw() {
    if (!this.points.length) return;
    const width = Math.floor(this.plot.clientWidth);
    if (width <= 0) return;
    const palette = colours();
    const xs = this.points.map((one) => one.cutoff);
    const ys = this.points.map((one) => one.mean_slowdown);
    const one = this.lanes.one_queue;
    const low = xs[0];
    const high = xs[xs.length - 1];
    const logX = low > 0 && high / low > 20;
    const all = exists(one) ? [...ys, one] : ys;
    const most = Math.max(...all);
    const logY = Math.min(...all) > 0 && most / Math.min(...all) > 50;
    this.unit.textContent = `Sojourn time ÷ run time, mean over all jobs${logX && logY ? "; both axes logarithmic" : logX ? "; cutoff logarithmic" : logY ? "; slowdown logarithmic" : ""}`;
    const axis = { stroke: palette.soft, font, labelFont: font, labelGap: 4, grid: { stroke: palette.grid, width: 1 }, ticks: { show: false } };
    const decades = (from, to) => {
      const marks = [];
      const few = Math.log10(to / from) < 1.6;
      for (let power = Math.floor(Math.log10(from)); power <= Math.ceil(Math.log10(to)); power += 1) {
        for (const factor of few ? [1, 2, 5] : [1]) {
          const mark = factor * 10 ** power;
          if (mark >= from * 0.999 && mark <= to * 1.001) marks.push(mark);
        }
      }
      return marks;
    };
    // Lanes are none of the strategies, so they have none of their colours.
    const colour = () => palette.ink;
    this.u = new uPlot({
      width,
      height: width < 520 ? 240 : 280,
      padding: [16, 22, 0, 0],
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, points: { size: 8 } },
      scales: {
        x: { time: false, distr: logX ? 3 : 1, range: () => (low < high ? [low, high] : [low * 0.5, low * 1.5 || 1]) },
        y: { distr: logY ? 3 : 1, range: () => (logY ? [Math.min(...all) / 1.3, most * 1.4] : [0, most * 1.12]) },
      },
      axes: [
        {
          ...axis, size: 26, label: "Cutoff: a job that runs longer goes to the slow lane", labelSize: 20,
          splits: (u, i, from, to) => (logX ? decades(from, to) : linearMarks(from, to, Math.max(2, width / 90))),
          values: (u, marks) => marks.map((value) => duration(value)),
        },
        {
          ...axis, size: 46, label: "Mean slowdown", labelSize: 22,
          splits: (u, i, from, to) => (logY ? decades(from, to) : linearMarks(from, to, 5)),
          values: (u, marks) => marks.map(number),
        },
      ],
      series: [{}, {
        stroke: colour, width: 2, points: { show: xs.length <= 60, size: 5, fill: colour, stroke: colour },
      }],
      hooks: {
        draw: [(u) => {
          const ratio = devicePixelRatio;
          const { ctx, bbox } = u;
          ctx.save();
          ctx.font = `${12 * ratio}px ${family}`;
          ctx.lineWidth = ratio;
          // Over the grid and the line, so with the surface around it.
          const write = (text, x, y) => {
            ctx.setLineDash([]);
            ctx.lineJoin = "round";
            ctx.lineWidth = 4 * ratio;
            ctx.strokeStyle = palette.surface;
            ctx.strokeText(text, x, y);
            ctx.fillStyle = palette.ink;
            ctx.fillText(text, x, y);
          };
          if (exists(one)) {
            const y = u.valToPos(one, "y", true);
            ctx.strokeStyle = palette.soft;
            ctx.setLineDash([5 * ratio, 4 * ratio]);
            ctx.beginPath();
            ctx.moveTo(bbox.left, y);
            ctx.lineTo(bbox.left + bbox.width, y);
            ctx.stroke();
            ctx.textAlign = "right";
            write(`One queue: ${number(one)}`, bbox.left + bbox.width, y - 7 * ratio);
          }
          if (this.best) {
            const [cutoff, value] = this.best;
            const x = u.valToPos(cutoff, "x", true);
            const y = u.valToPos(value, "y", true);
            ctx.beginPath();
            ctx.setLineDash([]);
            ctx.arc(x, y, 6 * ratio, 0, 2 * Math.PI);
            ctx.fillStyle = palette.surface;
            ctx.fill();
            ctx.lineWidth = 2.5 * ratio;
            ctx.strokeStyle = palette.ink;
            ctx.stroke();
            const text = `Chosen: ${duration(cutoff)}, slowdown ${number(value)}`;
            const wide = ctx.measureText(text).width;
            const left = Math.max(bbox.left + 4 * ratio, Math.min(bbox.left + bbox.width - wide, x - wide / 2));
            const under = y + 24 * ratio < bbox.top + bbox.height;
            const baseline = under ? y + 24 * ratio : y - 14 * ratio;
            ctx.textAlign = "left";
            write(text, left, baseline);
          }
          ctx.restore();
        }],
        setCursor: [(u) => {
          const index = u.cursor.idx;
          const inside = index !== null && index !== undefined && u.cursor.left >= 0;
          this.tip.hidden = !inside;
          if (!inside) return;
          this.tip.replaceChildren(h("div", { class: "when" }, `cutoff ${duration(xs[index])}`),
            h("div", {}, "mean slowdown ", h("b", {}, number(ys[index]))));
          const left = u.over.offsetLeft + u.cursor.left;
          const room = this.plot.clientWidth - this.tip.offsetWidth;
          this.tip.style.left = `${Math.max(0, Math.min(room, left + 16 > room ? left - this.tip.offsetWidth - 16 : left + 16))}px`;
        }],
      },
    }, [xs, ys], this.plot);
    this.plot.append(this.tip);
    this.u.over.addEventListener("mouseleave", () => { this.tip.hidden = true; });
  }

  redraw() {
    if (this.u) this.u.destroy();
    this.u = null;
    this.draw();
  }

  resize() {
    if (!this.u || Math.floor(this.plot.clientWidth) !== this.u.width) this.redraw();
  }

  update() {}
}

function lanesSection() {
  if (!results.lanes) return null;
  const chart = new LanesChart(results.lanes);
  return h("section", { class: "whole", "aria-labelledby": "lanes-title" },
    h("h2", { id: "lanes-title" }, "Lanes for short and long jobs"),
    h("p", { class: "intro" }, chart.sentence()),
    chart.element);
}

function footer() {
  return h("footer", {},
    h("p", {}, "Variation is the standard deviation divided by the mean. Strategies with the same value share a rank. "
      + "Percentiles, means and maxima are over all simulated time."),
    h("p", {}, "Made by ", h("code", {}, "offbeat simulate"), ". The same scenario and seeds give the same results; "
      + "they are in the source of this page, as JSON."));
}

// ---- putting it together ----

document.title = `${scenario.name || "Simulation"} · Offbeat`;

if (!strategies.length) {
  main.append(header(), h("p", { class: "none" }, "The results hold no strategy."));
  root.dataset.ready = "true";
  return;
}

main.append(...[
  header(),
  answer(),
  h("div", { class: "criteria" }, CRITERIA.map(criterionPanel)),
  strategies.length > 1 && rankingTable(),
  allFigures(),
  legend(),
  timeSection(),
  intervalSection(),
  ringSection(),
  lanesSection(),
  footer(),
].filter(Boolean));

// Charts have the width that their place has, now and when that changes.
let asked = false;
const fit = () => {
  asked = false;
  for (const chart of charts) chart.resize?.();
  root.dataset.ready = "true";
};
new ResizeObserver(() => {
  if (!asked) {
    asked = true;
    requestAnimationFrame(fit);
  }
}).observe(main);
fit();

const redrawAll = () => { for (const chart of charts) chart.redraw(); };
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);

// On paper: the light colours, the width of the paper, and all figures.
const closed = [];
addEventListener("beforeprint", () => {
  root.classList.add("printing");
  for (const details of document.querySelectorAll("#all-figures:not([open])")) {
    details.open = true;
    closed.push(details);
  }
  redrawAll();
});
addEventListener("afterprint", () => {
  root.classList.remove("printing");
  for (const details of closed.splice(0)) details.open = false;
  redrawAll();
});
})();
