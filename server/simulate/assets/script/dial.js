// The cycle as a dial: the users of each slot, and where the kinds of job stand.

/** The parts of a cycle in which jobs may come. */
const activeParts = scenario.active?.length ? scenario.active : cycle ? [[0, cycle]] : [];
const activeTime = activeParts.reduce((sum, [from, to]) => sum + to - from, 0);
const isNarrowed = cycle !== null && activeTime < cycle * (1 - 1e-9);

/** What lies in the cycle between two points of its active time: a slot may go on in the next window. */
function piecesOf(from, to) {
  const pieces = [];
  let before = 0;
  for (const [start, end] of activeParts) {
    const shift = start - before;
    const piece = [Math.max(from + shift, start), Math.min(to + shift, end)];
    if (piece[1] - piece[0] > 1e-9) pieces.push(piece);
    before += end - start;
  }
  return pieces;
}

/** How much active time there is before a time of the cycle; null where no job may come. */
function activeBefore(time) {
  let before = 0;
  for (const [start, end] of activeParts) {
    if (time >= start && time < end) return before + time - start;
    before += end - start;
  }
  return null;
}

/** The kinds of a slot share a hand: `{ slot, numbers }`, by slot. Kinds that stand anywhere have none. */
function handsOf(kinds) {
  const hands = new Map();
  kinds.forEach(({ slot }, index) => {
    if (exists(slot)) hands.set(slot, [...(hands.get(slot) || []), index + 1]);
  });
  return [...hands].map(([slot, numbers]) => ({ slot, numbers })).sort((a, b) => a.slot - b.slot);
}

/** "1", "1, 2", and no longer than the mark may be. */
const handText = (numbers) => (numbers.length > 3 ? `${numbers[0]}, +${numbers.length - 1}` : numbers.join(", "));

class Ring {
  constructor(strategy, alone) {
    this.strategy = strategy;
    const { loads = [], kinds = [] } = strategy.slots;
    this.loads = loads;
    this.kinds = kinds;
    this.slot = cycle ? activeTime / loads.length : null;
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
    const [piece] = this.pieces(slot);
    return piece ? offset(piece[0]) : "–";
  }

  pieces(slot) {
    return this.slot === null ? [] : piecesOf(slot * this.slot, (slot + 1) * this.slot);
  }

  kindTable() {
    if (!this.kinds.length) return null;
    return scroller(`Kinds of ${this.strategy.name}`, h("table", { class: "kinds" },
      h("caption", {}, "Where the kinds of job of a user in slot 0 stand"),
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, h("span", { class: "unseen" }, "Mark")),
        h("th", { scope: "col", class: "text" }, "Kind"), h("th", { scope: "col" }, "Slot"), h("th", { scope: "col" }, "Begins at"))),
      h("tbody", {}, this.kinds.map((kind, index) => h("tr", {},
        h("td", { class: "mark" }, h("span", { class: exists(kind.slot) ? "rank first" : "rank" }, number(index + 1))),
        h("th", { scope: "row", class: "text" }, chosen(kind.name, 70)),
        exists(kind.slot)
          ? [h("td", {}, number(kind.slot)), h("td", {}, this.start(kind.slot))]
          : h("td", { colspan: 2, class: "anywhere" }, kind.has_own_times ? "by its own cycle or windows" : "anywhere, elsewhere for each user"))))));
  }

  /** All slots as a table, made only when somebody asks: there may be thousands. */
  loadTable() {
    return later("All slots in figures", {}, () => h("div", { class: "table-panel panel", tabindex: "0", role: "region", "aria-label": "Slots" }, h("table", {},
      h("caption", {}, "The slots of the cycle"),
      h("thead", {}, h("tr", {}, ["Slot", "Begins at", "Users"].map((text) => h("th", { scope: "col" }, text)))),
      h("tbody", {}, this.loads.map((load, slot) => h("tr", {},
        h("th", { scope: "row" }, number(slot)), h("td", {}, this.start(slot)), h("td", {}, number(load))))))));
  }

  rest() {
    this.readout.textContent = this.most === this.least
      ? `${number(this.mean)} users in each slot`
      : `${number(this.least)} to ${number(this.most)} users in a slot, ${number(this.mean)} on average (dotted)`;
  }

  label() {
    const kinds = this.kinds.map((kind) => `${kind.name} ${exists(kind.slot) ? `in slot ${kind.slot}` : kind.has_own_times ? "by its own times" : "anywhere"}`);
    return `The cycle of ${duration(cycle)} with ${this.loads.length} slots of ${this.strategy.name}: ${number(this.least)} to ${number(this.most)} users in a slot. ${kinds.join(", ")}`;
  }

  draw() {
    this.element.hidden = !this.strategy.shown;
    if (!this.strategy.shown) return;
    const size = Math.min(460, Math.floor(this.plot.clientWidth));
    if (size <= 0) return;
    const step = cycle ? timeStep(cycle, 8) : 0;
    const times = cycle ? marksAt(0, cycle - step * 0.4, step).map((time) => [time, offset(time).replace(/(h.\d+).min$/, "$1")]) : [];
    const outer = size / 2 - 19 - Math.max(0, ...times.map(([, text]) => textWidth(text)));
    const dial = {
      size, outer, times,
      inner: outer * 0.62,
      hub: Math.max(34, outer * 0.62 * 0.4),
      angle: (time) => (time / (cycle || 1)) * 2 * Math.PI,
      at: (radius, angle) => [radius * Math.sin(angle), -radius * Math.cos(angle)],
    };
    const svg = s("svg", {
      width: size, height: size, viewBox: `${-size / 2} ${-size / 2} ${size} ${size}`, role: "img", "aria-label": this.label(),
    }, this.drawBars(dial), this.drawTimes(dial), this.drawHands(dial),
      s("text", { class: "hub", y: 1, "text-anchor": "middle" }, duration(cycle)),
      s("text", { y: 19, "text-anchor": "middle" }, count(this.loads.length, "slot", "slots")));
    svg.addEventListener("mousemove", (event) => this.point(event, svg, dial));
    svg.addEventListener("mouseleave", () => this.rest());
    this.plot.replaceChildren(svg);
    this.rest();
  }

  /**
   * In four shades by load, from a fifth below the mean to a fifth above it. One path for each shade,
   * so that thousands of slots are cheap.
   */
  drawBars({ inner, outer, angle, at }) {
    const slots = this.loads.length;
    const point = (radius, a) => at(radius, a).map((v) => v.toFixed(2)).join(" ");
    const radius = (load) => inner + ((outer - inner) * load) / (this.most || 1);
    const paths = ["", "", "", ""];
    const sector = (from, to, r) => {
      const large = to - from > Math.PI ? 1 : 0;
      return `M${point(inner, from)}L${point(r, from)}A${r.toFixed(2)} ${r.toFixed(2)} 0 ${large} 1 ${point(r, to)}`
        + `L${point(inner, to)}A${inner.toFixed(2)} ${inner.toFixed(2)} 0 ${large} 0 ${point(inner, from)}Z`;
    };
    const gap = Math.min(0.18, 0.18 * (360 / slots)) / 2;
    for (let slot = 0; slot < slots; slot += 1) {
      const load = this.loads[slot];
      if (!(load > 0)) continue;
      const near = (load / this.mean - 0.8) / 0.4;
      for (const [from, to] of this.pieces(slot)) {
        const edge = gap * (to - from);
        paths[Math.max(0, Math.min(3, Math.floor(near * 4)))] += sector(angle(from + edge), angle(to - edge), radius(load));
      }
    }
    // The rest of the cycle, in which no job may come.
    const ends = [0, ...activeParts.flat(), cycle];
    let rest = "";
    for (let at = 0; isNarrowed && at < ends.length; at += 2) {
      if (ends[at + 1] > ends[at]) rest += sector(angle(ends[at]), angle(ends[at + 1]), outer);
    }
    const shades = paths.map((d, shade) => {
      if (!d) return null;
      const bars = s("path", { d, class: "bars", "fill-opacity": 0.55 + shade * 0.15 });
      bars.style.fill = this.strategy.colour;
      return bars;
    });
    return [rest && s("path", { class: "rest", d: rest }), ...shades, this.drawMean(radius(this.mean), angle, point)];
  }

  drawMean(r, angle, point) {
    if (!isNarrowed) return s("circle", { class: "mean", r });
    return activeParts.map(([from, to]) => s("path", {
      class: "mean",
      d: `M${point(r, angle(from))}A${r} ${r} 0 ${to - from > cycle / 2 ? 1 : 0} 1 ${point(r, angle(to))}`,
    }));
  }

  /** Around, from the top and clockwise. */
  drawTimes({ outer, times, at }) {
    return times.map(([time, text]) => {
      const a = (time / cycle) * 2 * Math.PI;
      const [x1, y1] = at(outer + 4, a);
      const [x2, y2] = at(outer + 9, a);
      const [x, y] = at(outer + 17, a);
      const side = Math.sin(a);
      return [s("line", { class: "axis", x1, y1, x2, y2 }), s("text", {
        x, y: y + 4 - Math.cos(a) * 4, "text-anchor": Math.abs(side) < 0.2 ? "middle" : side > 0 ? "start" : "end",
      }, text)];
    });
  }

  /** A hand for each slot with kinds, with their numbers; marks that would touch stand further in. */
  drawHands({ inner, hub, angle, at }) {
    const taken = [];
    const lines = [];
    const marks = [];
    for (const { slot, numbers } of handsOf(this.kinds)) {
      const [piece] = this.pieces(slot);
      if (!piece) continue;
      const a = angle((piece[0] + piece[1]) / 2);
      const text = handText(numbers);
      const half = Math.max(9.5, textWidth(text) / 2 + 5);
      const isFree = ([x, y]) => taken.every((other) => Math.abs(other.x - x) > other.half + half + 1 || Math.abs(other.y - y) > 20);
      let r = inner - 6 - (Math.abs(Math.sin(a)) * half + Math.abs(Math.cos(a)) * 9.5);
      while (r > hub + 14 && !isFree(at(r, a))) r -= 6;
      const [x, y] = at(r, a);
      const [x1, y1] = at(hub, a);
      const [x2, y2] = at(inner, a);
      lines.push(s("line", { class: "hand", x1, y1, x2, y2 }));
      // Without room the hand stands alone: the table has the slot.
      if (!isFree([x, y])) continue;
      taken.push({ x, y, half });
      marks.push(s("rect", { class: "dot", x: x - half, y: y - 9.5, width: 2 * half, height: 19, rx: 9.5 }),
        s("text", { class: "number", x, y: y + 4, "text-anchor": "middle" }, text));
    }
    return [lines, marks];
  }

  point(event, svg, { hub, outer }) {
    const slots = this.loads.length;
    const box = svg.getBoundingClientRect();
    const x = event.clientX - box.left - box.width / 2;
    const y = event.clientY - box.top - box.height / 2;
    const distance = Math.hypot(x, y);
    if (distance < hub || distance > outer + 20) {
      this.rest();
      return;
    }
    const turn = (Math.atan2(x, -y) + 2 * Math.PI) % (2 * Math.PI);
    const active = activeBefore((turn / (2 * Math.PI)) * cycle);
    if (active === null) {
      this.readout.textContent = "No job may come at this time of the cycle";
      return;
    }
    const slot = Math.min(slots - 1, Math.floor(active / this.slot));
    const here = this.kinds.filter((kind) => kind.slot === slot).map((kind) => brief(kind.name));
    this.readout.textContent = `Slot ${number(slot)}, from ${this.start(slot)}: ${count(this.loads[slot], "user", "users")}`
      + (here.length ? ` (${here.join(", ")})` : "");
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
  const isAnywhere = list.some((one) => (one.slots.kinds || []).some((kind) => !exists(kind.slot)));
  const section = h("section", { class: "whole", id: "rings", "aria-labelledby": "ring-title" },
    h("h2", { id: "ring-title" }, "The cycle and its slots"),
    h("p", { class: "intro" }, "A cycle begins at the top and runs clockwise. Bars of the same length mean that the users are spread evenly; "
      + "the hands show where the kinds of job of one user stand: the further apart, the less they get into each other's way.",
      isAnywhere && " A kind without a hand stands anywhere, or has times of its own: it is elsewhere for each user.",
      isNarrowed && " Grey: no job may come."),
    h("div", { class: "rings" }, list.map((strategy) => new Ring(strategy, list.length === 1).element)));
  // Without a shown ring there is nothing for the heading to be about.
  charts.push({ update: () => { section.hidden = list.every((one) => !one.shown); }, redraw() {} });
  return section;
}
