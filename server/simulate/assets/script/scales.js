// Marks on axes, and steps that people count time in.

const TIME_STEPS = [0.001, 0.01, 0.1, 1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1200, 1800, 3600, 7200, 10800, 14400,
  21600, 43200, 86400, 172800, 345600, 604800, 1209600, 2592000, 7776000, 31536000];

const family = getComputedStyle(document.body).fontFamily;
const font = `12px ${family}`;

const textWidth = (() => {
  const context = document.createElement("canvas").getContext("2d");
  context.font = font;
  return (text) => context.measureText(text).width;
})();

const colours = () => {
  const style = getComputedStyle(root);
  const read = (name) => style.getPropertyValue(name).trim();
  return {
    soft: read("--soft"), line: read("--line"), grid: read("--grid"), ink: read("--ink"), surface: read("--surface"), band: read("--band"),
    of: (strategy) => read(strategy.colour.slice(4, -1)),
  };
};

/** The smallest step with at most so many marks. */
function timeStep(range, most) {
  return TIME_STEPS.find((step) => range / step <= most) || range / most;
}

function marksAt(low, high, step) {
  const marks = [];
  for (let at = Math.ceil(low / step - 1e-9); at * step <= high + step * 1e-6; at += 1) marks.push(at * step);
  return marks;
}

/** Marks of a linear axis, at most about `most`. */
function linearMarks(low, high, most) {
  const rough = (high - low || 1) / (most + 0.9);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= rough * (1 - 1e-9)) * power;
  return marksAt(low, high, step);
}

/** 1, 10, 100 …, or with 2 and 5 where there are few of them. */
function decades(low, high) {
  const marks = [];
  const few = Math.log10(high / low) < 1.6;
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
    for (const factor of few ? [1, 2, 5] : [1]) {
      const mark = factor * 10 ** power;
      if (mark >= low * 0.999 && mark <= high * 1.001) marks.push(mark);
    }
  }
  return marks;
}

/** The same for times: 1 s, 10 s, 1 min, 10 min, 1 h … */
const timeDecades = (low, high) => [1e-6, 1e-5, 1e-4, 0.001, 0.01, 0.1, 1, 10, 60, 600, 3600, 36000, DAY, 10 * DAY, 100 * DAY]
  .filter((mark) => mark >= low * 0.999 && mark <= high * 1.001);

/** Of marks in ascending order, those whose texts do not touch one another, nor the ends of the axis. */
function fittingMarks(marks, text, place, width) {
  const kept = [];
  let end = -Infinity;
  for (const mark of marks) {
    const half = textWidth(text(mark)) / 2;
    const left = Math.max(0, Math.min(width - 2 * half, place(mark) - half));
    if (left < end + 10) continue;
    kept.push(mark);
    end = left + 2 * half;
  }
  return kept;
}

// ---- the axis of time ----

/** Marks, and how they are called: the time of day, and below it the day where a new one begins. */
function timeMarks(low, high, width) {
  const range = high - low;
  const room = range < 60 ? 84 : range < 1800 ? 70 : 56;
  const step = timeStep(range, Math.max(2, width / room));
  return { step, marks: marksAt(low, high, step) };
}

function timeTexts(marks, step) {
  const hasDays = !(scenario.duration <= DAY);
  let last = null;
  return marks.map((at) => {
    const day = dayOf(at);
    const name = `day ${decimals(day + 1, 0)}`;
    if (step >= DAY) return name;
    const isNew = hasDays && day !== last;
    last = day;
    return isNew ? `${timeOfDay(at - day * DAY)}\n${name}` : timeOfDay(at - day * DAY);
  });
}

// ---- steps drawn as one ----

/** A step that people count in, of whole steps of the results, with at most so many in a range. */
function bundleOf(base, seconds, most) {
  const least = base * Math.max(1, Math.ceil(seconds / base / most));
  const isWhole = (step) => step >= least && Math.abs(step / base - Math.round(step / base)) < 1e-9;
  const round = TIME_STEPS.find(isWhole);
  // A round one that is much longer would hide more than it tells.
  return round <= 3 * least ? round : least;
}

/**
 * The values of columns on one axis of time, at most `most` of them within a range of time: more
 * steps than pixels are a blur. Steps in one bundle become their maximum or their mean, as the steps
 * themselves are. A column is `{ values, step, isMaximum }`.
 */
function bundled(columns, range, most) {
  const base = Math.min(...columns.map((one) => one.step));
  const bundle = bundleOf(base, range[1] - range[0], most);
  const summed = columns.map(({ values, step, isMaximum }) => {
    const sums = [];
    const counts = [];
    values.forEach((one, index) => {
      if (!exists(one)) return;
      const at = Math.floor((index * step) / bundle + 1e-9);
      sums[at] = counts[at] ? (isMaximum ? Math.max(sums[at], one) : sums[at] + one) : one;
      counts[at] = (counts[at] || 0) + 1;
    });
    return { sums, counts, isMaximum };
  });
  const length = Math.max(0, ...summed.map(({ sums }) => sums.length));
  const xs = Array.from({ length }, (_, index) => index * bundle);
  const value = ({ sums, counts, isMaximum }) => (_, at) =>
    (counts[at] ? (isMaximum ? sums[at] : sums[at] / counts[at]) : null);
  return { bundle, xs, columns: summed.map((one) => xs.map(value(one))) };
}
