// What lanes do for the work: the slowdown over the cutoff between a fast and a slow lane.

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
      this.points.length > 0 && h("p", { class: "axis-note" }, "Cutoff: a job that runs longer goes to the slow lane"),
      this.points.length > 0 && h("details", {}, h("summary", {}, "In figures"),
        h("div", { class: "table-panel panel", tabindex: "0", role: "region", "aria-label": "Slowdown for each cutoff" }, h("table", {},
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
    const axis = { stroke: palette.soft, font, grid: { stroke: palette.grid, width: 1 }, ticks: { show: false } };
    const yMarks = logY ? decades(Math.min(...all) / 1.3, most * 1.4) : linearMarks(0, most * 1.12, 5);
    const axisWidth = Math.max(36, ...yMarks.map((mark) => textWidth(number(mark)) + 10));
    const [left, right] = low < high ? [low, high] : [low * 0.5, low * 1.5 || 1];
    const scaled = (value) => (logX ? Math.log(value / left) / Math.log(right / left) : (value - left) / (right - left));
    const inside = width - axisWidth - 28;
    const xMarks = fittingMarks(logX ? timeDecades(left, right) : linearMarks(left, right, Math.max(2, width / 90)),
      duration, (value) => scaled(value) * inside, Infinity);
    // Lanes are none of the strategies, so they have none of their colours.
    const colour = () => palette.ink;
    this.u = new uPlot({
      width,
      height: width < 520 ? 240 : 280,
      padding: [18, 28, 0, 0],
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, points: { size: 8 } },
      scales: {
        x: { time: false, distr: logX ? 3 : 1, range: () => [left, right] },
        y: { distr: logY ? 3 : 1, range: () => (logY ? [Math.min(...all) / 1.3, most * 1.4] : [0, most * 1.12]) },
      },
      axes: [
        { ...axis, size: 26, filter: (u, marks) => marks, splits: () => xMarks, values: (u, marks) => marks.map((value) => duration(value)) },
        { ...axis, size: axisWidth, filter: (u, marks) => marks, splits: () => yMarks, values: (u, marks) => marks.map(number) },
      ],
      series: [{}, {
        stroke: colour, width: 2, points: { show: xs.length <= 60, size: 5, fill: colour, stroke: colour },
      }],
      hooks: {
        draw: [(u) => this.annotate(u)],
        setCursor: [(u) => {
          const index = u.cursor.idx;
          const inside = index !== null && index !== undefined && u.cursor.left >= 0;
          this.tip.hidden = !inside;
          if (!inside) return;
          this.tip.replaceChildren(h("div", { class: "when" }, `cutoff ${duration(xs[index])}`),
            h("div", {}, "mean slowdown ", h("b", {}, number(ys[index]))));
          const at = u.over.offsetLeft + u.cursor.left;
          placeTip(this.tip, at, this.plot.clientWidth);
        }],
      },
    }, [xs, ys], this.plot);
    this.plot.append(this.tip);
    this.u.over.addEventListener("mouseleave", () => { this.tip.hidden = true; });
  }

  /** One queue as a line, and the lanes that were chosen as a ring, each with its figures. */
  annotate(u) {
    const palette = colours();
    const ratio = devicePixelRatio;
    const { ctx, bbox } = u;
    const { one_queue: one } = this.lanes;
    const end = bbox.left + bbox.width;
    const taken = [];
    ctx.save();
    ctx.font = `${12 * ratio}px ${family}`;
    ctx.textAlign = "left";
    ctx.textBaseline = "alphabetic";
    ctx.lineJoin = "round";
    // Over the grid and the line, so with the surface around it; at the first place that is free.
    const write = (text, places) => {
      const width = ctx.measureText(text).width;
      const boxes = places.map(([x, y]) => ({ x: Math.max(bbox.left + 4 * ratio, Math.min(end - width, x - width / 2)), y, width }));
      const isFree = (box) => box.y > 12 * ratio && box.y < bbox.top + bbox.height - 4 * ratio
        && taken.every((other) => Math.abs(other.y - box.y) > 17 * ratio || other.x > box.x + box.width || box.x > other.x + other.width);
      const box = boxes.find(isFree);
      if (!box) return;
      taken.push(box);
      ctx.setLineDash([]);
      ctx.lineWidth = 4 * ratio;
      ctx.strokeStyle = palette.surface;
      ctx.strokeText(text, box.x, box.y);
      ctx.fillStyle = palette.ink;
      ctx.fillText(text, box.x, box.y);
    };
    if (this.best) {
      const [cutoff, value] = this.best;
      const x = u.valToPos(cutoff, "x", true);
      const y = u.valToPos(value, "y", true);
      ctx.beginPath();
      ctx.arc(x, y, 6 * ratio, 0, 2 * Math.PI);
      ctx.fillStyle = palette.surface;
      ctx.fill();
      ctx.lineWidth = 2.5 * ratio;
      ctx.strokeStyle = palette.ink;
      ctx.stroke();
      write(`Chosen: ${duration(cutoff)}, slowdown ${number(value)}`, [[x, y + 24 * ratio], [x, y - 14 * ratio]]);
    }
    if (exists(one)) {
      const y = u.valToPos(one, "y", true);
      ctx.lineWidth = ratio;
      ctx.strokeStyle = palette.soft;
      ctx.setLineDash([5 * ratio, 4 * ratio]);
      ctx.beginPath();
      ctx.moveTo(bbox.left, y);
      ctx.lineTo(end, y);
      ctx.stroke();
      write(`One queue: ${number(one)}`, [7, -17, 25, -35, 43].flatMap((above) => [[end, y - above * ratio], [bbox.left, y - above * ratio]]));
    }
    ctx.restore();
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

