// A chart over time with all strategies: in one plot, or one row for each where lines hide one
// another.

// The best strategy is drawn last, over the others.
const drawn = [...ordered].reverse();

/** What a plot over time has around it: its place, the values at the pointer, and when to draw. */
class TimeFigure {
  constructor() {
    this.plots = [];
    this.place = h("div", { class: "plots" });
    this.tip = h("div", { class: "tip", hidden: true, "aria-hidden": "true" });
    charts.push(this);
    overTime.push(this);
  }

  /** A plot in its own element, which reports where the pointer is. */
  add(element, options) {
    const u = timePlot(element, { ...options, onPoint: (plot) => this.point(plot) });
    u.over.addEventListener("mouseenter", () => { this.hovered = u; });
    u.over.addEventListener("mouseleave", () => { this.hovered = null; this.tip.hidden = true; });
    this.plots.push(u);
    return u;
  }

  point(u) {
    // Charts follow each other's pointer; the values stand beside it alone.
    const index = u.cursor.idx;
    if (this.hovered !== u) return;
    this.tip.hidden = !exists(index) || u.cursor.left < 0;
    if (this.tip.hidden) return;
    const from = u.data[0][index];
    this.tip.replaceChildren(h("div", { class: "when" }, period(from, from + this.bundle)),
      ...outagesAt(from, from + this.bundle), ...this.rowsAt(index));
    const over = u.over.getBoundingClientRect();
    const place = this.place.getBoundingClientRect();
    this.tip.style.top = `${u.root.getBoundingClientRect().top - place.top + 4}px`;
    placeTip(this.tip, over.left - place.left + u.cursor.left, place.width);
  }

  clear() {
    for (const u of this.plots.splice(0)) u.destroy();
    this.hovered = null;
    this.tip.hidden = true;
    this.place.replaceChildren();
  }

  redraw() {
    const { height } = this.place.getBoundingClientRect();
    // The page keeps its length meanwhile, or it would jump.
    this.place.style.minHeight = `${height}px`;
    this.clear();
    this.draw();
    this.place.style.minHeight = "";
  }

  resize() {
    const width = Math.floor(this.place.clientWidth);
    if (width > 0 && width !== this.drawnAt) this.redraw();
  }

  update() { this.redraw(); }
}

/** Whether a line lies on another one nearly everywhere, or crosses it again and again. */
function linesHide(columns, log) {
  const all = columns.flat().filter(exists);
  const scaled = log ? Math.log1p : (value) => value;
  const near = 0.06 * scaled(Math.max(1e-9, ...all));
  return columns.some((one, index) => columns.slice(index + 1).some((other) => {
    let both = 0;
    let close = 0;
    let crossings = 0;
    let last = 0;
    one.forEach((value, at) => {
      if (!exists(value) || !exists(other[at])) return;
      both += 1;
      if (Math.abs(scaled(value) - scaled(other[at])) < near) close += 1;
      const side = Math.sign(value - other[at]);
      if (side && last && side !== last) crossings += 1;
      last = side || last;
    });
    return both > 0 && (close > 0.75 * both || crossings > 0.2 * both);
  }));
}

class TimeChart extends TimeFigure {
  constructor({ id, title, what, isMaximum, value, format, log, top }) {
    super();
    Object.assign(this, { id, title, what, isMaximum, value, format, top });
    this.isEmpty = strategies.every((one) => value(one).length === 0);
    this.canLog = log !== undefined;
    this.log = Boolean(log);
    const columns = drawn.map((one) => this.column(one));
    this.isRows = !this.isEmpty && strategies.length > 1
      && linesHide(bundled(columns, wholeTime(), 300).columns, this.log);
    this.buttons = [];
    this.unitText = h("span", { class: "unit" });
    this.element = h("figure", { class: "chart panel", id },
      h("figcaption", { class: "head" }, h("h3", {}, title), this.unitText,
        !this.isEmpty && h("span", { class: "switches" },
          strategies.length > 1 && this.choice("Lines of", "isRows", ["Together", "One row each"]),
          this.canLog && this.choice("Scale of", "log", ["Linear", "Logarithmic"]))),
      this.isEmpty ? h("p", { class: "none" }, "The simulation has no steps to draw.") : this.place,
      !this.isEmpty && this.table());
  }

  choice(what, key, texts) {
    const buttons = texts.map((text, index) => h("button", {
      type: "button",
      onclick: () => { this[key] = index === 1; this.redraw(); },
    }, text));
    this.buttons.push(() => buttons.forEach((button, index) => button.setAttribute("aria-pressed", String((index === 1) === this[key]))));
    return h("span", { class: "switch", role: "group", "aria-label": `${what}: ${this.title}` }, buttons);
  }

  column(strategy) {
    return { values: this.value(strategy), step: stepOf(strategy), isMaximum: this.isMaximum };
  }

  unit(step) {
    const text = `${this.isMaximum ? "maximum" : "mean"} of each ${step ? duration(step) : "step"}`;
    return this.what ? `${this.what}, ${text}` : capital(text);
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
        when: most === null ? null : values.indexOf(most) * stepOf(strategy),
      };
    });
  }

  table() {
    return h("details", {}, h("summary", {}, "In figures"),
      scroller(`${this.title} in figures`, h("table", {},
        h("caption", {}, `${this.title}: ${this.unit(longestStep)}`),
        h("thead", {}, h("tr", {}, ["Strategy", "Lowest", "Median", "Highest", "Highest at"].map((text, index) =>
          h("th", { scope: "col", class: index ? null : "text" }, text)))),
        h("tbody", {}, this.summary().map(({ strategy, low, middle, most, when }) => h("tr", {},
          h("th", { scope: "row", class: "text" }, named(strategy)),
          h("td", {}, this.format(low)), h("td", {}, this.format(middle)), h("td", {}, this.format(most)),
          h("td", {}, when === null ? "–" : moment(when))))))));
  }

  label(shown) {
    const texts = this.summary().filter(({ strategy }) => shown.includes(strategy))
      .map(({ strategy, middle, most }) => `${strategy.name}: median ${this.format(middle)}, highest ${this.format(most)}`);
    const during = outages.length ? ` Outages: ${outages.slice(0, SHOWN_OUTAGES).map((one) => `${one.long}, ${period(one.from, one.to)}`).join("; ")}.` : "";
    return `${this.title} (${this.unit(longestStep)}) over the simulated time. ${texts.join("; ")}.${during}`;
  }

  rowsAt(index) {
    return this.shown.map((strategy, at) => [strategy, this.data[at][index]])
      .filter(([, value]) => exists(value))
      .sort((a, b) => b[1] - a[1])
      .map(([strategy, value]) => h("div", { class: "row" }, swatch(strategy), nameOf(strategy), h("b", {}, this.format(value))));
  }

  line(strategy, values, isAlone) {
    return {
      label: strategy.name,
      values,
      colour: () => colours().of(strategy),
      fill: isAlone ? () => `${colours().of(strategy)}22` : undefined,
      dash: isAlone ? undefined : strategy.dash,
      width: strategy === winner && !isAlone ? 2 : 1.3,
    };
  }

  draw() {
    if (this.isEmpty) return;
    const width = Math.floor(this.place.clientWidth);
    if (width <= 0) return;
    this.drawnAt = width;
    for (const mark of this.buttons) mark();
    this.shown = (this.isRows ? ordered : drawn).filter((one) => one.shown);
    if (this.isRows) this.drawRows(width);
    else this.drawTogether(width);
    this.place.append(this.tip);
    this.unitText.textContent = this.unit(this.bundle) + (this.log ? ", logarithmic" : "");
  }

  prepare(width, height) {
    const { bundle, xs, columns } = bundled(this.shown.map((one) => this.column(one)), shownTime(), Math.max(60, (width - 90) / 1.7));
    this.bundle = bundle;
    this.data = columns;
    return { xs, scale: valueScale({ columns, xs, top: this.top, log: this.log, format: this.format, height }) };
  }

  drawTogether(width) {
    const height = width < 520 ? 176 : 190;
    const { xs, scale } = this.prepare(width, height);
    const plot = h("div", { class: "plot", role: "img", "aria-label": this.label(this.shown) });
    this.place.append(plot);
    this.add(plot, {
      xs, scale, width, height, axisWidth: Math.max(44, scale.width), hasTime: true, hasLabels: true,
      lines: this.shown.map((strategy, at) => this.line(strategy, this.data[at], strategies.length === 1)),
    });
  }

  drawRows(width) {
    const plots = this.shown.map((strategy) => h("div", { class: "plot", role: "img", "aria-label": this.label([strategy]) }));
    this.rows = this.shown.map((strategy, at) => h("div", { class: "strip" },
      h("div", { class: "about" }, named(strategy)), plots[at]));
    this.rows[0]?.classList.toggle("is-labelled", outages.length > 0);
    this.place.append(...this.rows);
    const own = Math.floor(plots[0].clientWidth);
    const height = this.shown.length > 8 ? 40 : 52;
    const { xs, scale } = this.prepare(own, height);
    this.shown.forEach((strategy, at) => this.add(plots[at], {
      xs, scale, width: own, height, axisWidth: Math.max(44, scale.width),
      hasTime: at === this.shown.length - 1, hasLabels: at === 0, lines: [this.line(strategy, this.data[at], true)],
    }));
  }

  highlight(strategy) {
    if (!this.plots.length) return;
    const at = strategy ? this.shown.indexOf(strategy) : -1;
    if (this.isRows) this.rows.forEach((row, index) => row.classList.toggle("dim", at >= 0 && index !== at));
    else this.plots[0].setSeries(at >= 0 ? at + 1 : null, { focus: true });
  }
}

/** Whether peaks lie so far apart that the smaller ones would vanish on a linear scale. */
function farApart(key) {
  const peaks = strategies.map((one) => peakOf(one, key));
  return Math.max(...peaks) > 100 * Math.max(1, Math.min(...peaks));
}
const peakOf = (strategy, key) => (strategy.series[key] || []).reduce((most, v) => (v > most ? v : most), 0);
