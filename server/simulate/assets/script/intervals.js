// How regularly a user is served: the distribution of the intervals, a row for each strategy.

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
      this.table(),
      survivorsNote());
    charts.push(this);
  }

  table() {
    const columns = [["5 % are shorter than", 0.05], ["Median", 0.5], ["5 % are longer than", 0.95]];
    return h("details", {}, h("summary", {}, "In figures"),
      scroller("Intervals in figures", h("table", {},
        h("caption", {}, `Interval between a user's runs, by the histogram${seeds.length > 1 ? ` of seed ${seeds[0]}` : ""}`),
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
    const marks = fittingMarks(marksAt(low, high, timeStep(high - low, Math.max(2, width / 60))), offset, x, width);
    shown.forEach((row, position) => this.drawRow(row, { low, high, width, x, marks, isLast: position === shown.length - 1 }));

    const axis = s("svg", { width, height: 22, "aria-hidden": "true" });
    for (const at of marks) {
      const half = textWidth(offset(at)) / 2;
      axis.append(s("text", { x: Math.max(half, Math.min(width - half, x(at))), y: 12, "text-anchor": "middle" }, offset(at)));
    }
    this.grid.append(h("div", { class: "ridge" }, h("div", { class: "plot" }, axis)),
      cycle && cycle >= low && cycle <= high && h("p", { class: "axis-note" }, "Dashed: the cycle"));
  }

  drawRow(row, { low, high, width, x, marks, isLast }) {
    const height = 54;
    const foot = isLast ? 0 : 16;
    const { strategy } = row;
    const { figures } = strategy;
    const svg = s("svg", {
      width, height: height + 16, role: "img",
      "aria-label": `${strategy.name}: ` + (row.bins.sum
        ? `90 % of the intervals lie between ${duration(quantile(row.bins, 0.05), 3)} and ${duration(quantile(row.bins, 0.95), 3)}`
        : "no intervals"),
    });
    svg.append(...marks.map((at) => s("line", { class: "grid", x1: x(at), x2: x(at), y1: 0, y2: height + foot })));
    if (cycle && cycle >= low && cycle <= high) {
      svg.append(s("line", { class: "cycle", x1: x(cycle), x2: x(cycle), y1: 0, y2: height + foot }));
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
        placeTip(tip, at, width);
      });
      svg.addEventListener("mouseleave", () => { tip.hidden = true; });
    }
    const spread = span(figures);
    this.grid.append(h("div", { class: "ridge" },
      h("div", { class: "about" }, named(strategy)),
      h("div", { class: "about figures" },
        exists(figures.interval_mean) && h("div", {}, "mean ", h("b", {}, starred(strategy, "interval_mean", duration(figures.interval_mean, 2)))),
        exists(spread) && h("div", {}, `90${GAP}% differ by less than `, h("b", {}, starred(strategy, "interval_p95", duration(spread, 2)))),
        !row.bins.sum && "no intervals"),
      h("div", { class: "plot" }, svg, tip)));
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
    h("p", { class: "intro" }, `The narrower the shape, the more a user can rely on the interval between two runs. The line below a shape spans 90${GAP}% of the intervals.`),
    new Ridges().element);
}
