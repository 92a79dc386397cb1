// Numbers and times in words.

const GAP = "\u00a0"; // between a number and its unit, where no line may end
const DAY = 86400;
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

const UNITS = [[DAY, "d"], [3600, "h"], [60, "min"], [1, "s"]];

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
  const first = UNITS.findIndex(([size]) => seconds >= size);
  const [last] = UNITS[Math.min(3, first + parts - 1)];
  let rest = Math.round(seconds / last) * last;
  const words = [];
  for (const [size, unit] of UNITS) {
    if (size < last) break;
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) words.push(`${decimals(count, 0)}${GAP}${unit}`);
  }
  return words.join(GAP);
}

/** A time within a cycle, or an interval, on an axis. */
const offset = (seconds) => (seconds === 0 ? `0${GAP}h` : duration(seconds, 3));

/** The time of day: "01:00", with seconds where it has some. */
function timeOfDay(seconds) {
  const whole = Math.floor(seconds / 60 + 1e-6);
  const rest = Math.max(0, Math.round((seconds - whole * 60) * 1000) / 1000);
  const two = (value) => String(value).padStart(2, "0");
  const text = `${two(Math.floor(whole / 60))}:${two(whole % 60)}`;
  return rest > 0 ? `${text}:${rest < 10 ? "0" : ""}${rest}` : text;
}

const dayOf = (seconds) => Math.floor(seconds / DAY + 1e-9);

/** A time of the scenario, which begins at midnight of its day 1. */
function moment(seconds) {
  const day = dayOf(seconds);
  return `day${GAP}${decimals(day + 1, 0)}${GAP}${timeOfDay(seconds - day * DAY)}`;
}

/** From one time of the scenario to another. Midnight at its end is 24:00 of the day before. */
function period(from, to) {
  const day = Math.max(dayOf(from), Math.ceil(to / DAY - 1e-9) - 1);
  const end = timeOfDay(to - day * DAY);
  return `${moment(from)} to ${day === dayOf(from) ? end : `day${GAP}${decimals(day + 1, 0)}${GAP}${end}`}`;
}

const count = (value, one, many) => `${number(value)} ${value === 1 ? one : many}`;

/** A whole number, as jobs and workers are counted: above one job in a hundred no decimals. */
const whole = (value) => (exists(value) && Math.abs(value) >= 10 ? decimals(value, 0) : number(value));

function listed(words) {
  return words.flatMap((word, index) => {
    if (index === 0) return [word];
    return [index === words.length - 1 ? " and " : ", ", word];
  });
}

/** A name that fits into a sentence or a row: names may be as long as somebody likes. */
const brief = (name, most = 70) => {
  const letters = [...String(name)];
  return letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : String(name);
};

/** The word with a capital, to begin a sentence. */
const capital = (word) => word[0].toUpperCase() + word.slice(1);
