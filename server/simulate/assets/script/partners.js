// What the customers of each partner see over time: a panel for each partner, of one strategy.

const MEASURES = [
  { key: "finished", title: "Jobs finished per second", none: "No job was finished." },
  { key: "throttled", title: "Attempts refused per second", none: "No attempt was refused." },
  { key: "failed", title: "Attempts unanswered per second", none: "No attempt was left unanswered." },
  { key: "mean_wait", title: "Mean wait of the jobs that start", none: "No job waited.", isTime: true },
];

/** Counts of a step become those of a second; the last step may be a part of one. */
function partnerValues(strategy, place, { key, isTime }) {
  const values = strategy.partners[place]?.series?.[key] || [];
  if (isTime) return values;
  const step = stepOf(strategy);
  const [, end] = wholeTime();
  return values.map((value, at) => value / Math.max(1, Math.min(step, end - at * step)));
}

class PartnerChart extends TimeFigure {
  constructor(place, section) {
    super();
    this.at = place;
    this.section = section;
    this.partner = partners[place];
    const { name, max_per_second: allowed, outages: down = [] } = this.partner;
    const facts = [
      exists(allowed) ? `${number(allowed)} calls a second allowed` : "no limit of calls",
      down.length === 0 ? "never down" : down.length === 1 ? `down ${period(...down[0])}` : `${number(down.length)} outages`,
    ];
    this.place.setAttribute("role", "img");
    this.element = h("figure", { class: "chart panel partner" },
      h("figcaption", { class: "head" }, h("h3", {}, chosen(name, 70)), h("span", { class: "unit" }, facts.join("; "))),
      this.place, this.table());
  }

  table() {
    const of = (one) => one.partners[this.at] || {};
    return h("details", {}, h("summary", {}, "In figures"),
      scroller(`Partner ${this.partner.name} in figures`, h("table", {},
        h("caption", {}, `The jobs of its customers, over the whole run${overSeeds}`),
        h("thead", {}, h("tr", {}, ["Strategy", "Finished", "Refused", "Unanswered", "Mean wait"].map((text, index) =>
          h("th", { scope: "col", class: index ? null : "text" }, text)))),
        h("tbody", {}, ordered.map((one) => h("tr", {},
          h("th", { scope: "row", class: "text" }, named(one)),
          h("td", {}, whole(of(one).jobs_finished)), h("td", {}, whole(of(one).throttled)),
          h("td", {}, whole(of(one).failed)), h("td", {}, duration(of(one).mean_wait))))))));
  }

  rowsAt(index) {
    return MEASURES.map((measure, at) => [measure, this.data[at][index]]).filter(([, value]) => exists(value))
      .map(([measure, value]) => h("div", { class: "row two" }, measure.title, h("b", {}, measure.isTime ? duration(value) : number(value))));
  }

  draw() {
    const { strategy } = this.section;
    const width = Math.floor(this.place.clientWidth);
    if (width <= 0) return;
    this.drawnAt = width;
    const height = 48;
    const column = (measure) => ({ values: partnerValues(strategy, this.at, measure), step: stepOf(strategy), isMaximum: measure.isTime });
    const { bundle, xs, columns } = bundled(MEASURES.map(column), shownTime(), Math.max(60, (width - 90) / 1.7));
    this.bundle = bundle;
    this.data = columns;
    const isDrawn = columns.map((values) => values.some((value) => value > 0));
    const scales = MEASURES.map((measure, at) => valueScale({
      columns: [columns[at]], xs, isTime: measure.isTime, height,
      // Waits have one scale for all partners: who else waits for this one is what they show.
      top: measure.isTime ? this.section.longestWait() : 0,
      format: measure.isTime ? (value) => duration(value) : number,
    }));
    const axisWidth = Math.max(44, ...scales.filter((_, at) => isDrawn[at]).map((one) => one.width));
    const last = isDrawn.lastIndexOf(true);
    MEASURES.forEach((measure, at) => {
      const unit = `${measure.isTime && bundle > stepOf(strategy) ? "longest" : "mean"} of each ${duration(bundle)}`;
      this.place.append(h("p", { class: "measure" }, isDrawn[at] ? [h("b", {}, measure.title), `, ${unit}`] : measure.none));
      if (!isDrawn[at]) return;
      const plot = h("div", { class: "plot" });
      this.place.append(plot);
      this.add(plot, {
        xs, scale: scales[at], width, height, axisWidth, hasTime: at === last, hasLabels: at === isDrawn.indexOf(true),
        lines: [{
          label: measure.title, values: columns[at],
          colour: () => colours().of(strategy),
          fill: () => `${colours().of(strategy)}${measure.isTime ? "" : "22"}`,
          isBars: measure.isTime,
        }],
      });
    });
    const texts = MEASURES.map((measure, at) => {
      const most = Math.max(0, ...columns[at].filter(exists));
      return `${measure.title}: at most ${measure.isTime ? duration(most) : number(most)}`;
    });
    this.place.setAttribute("aria-label", `${this.partner.name}, with ${strategy.name}. ${texts.join("; ")}.`);
    this.place.append(this.tip);
  }

  // What the legend hides are lines of all strategies; here is one.
  update() {}
}

/** No more partners are shown at once. */
const SHOWN_PARTNERS = 6;

function partnersSection() {
  const having = ordered.filter((one) => one.partners.some((partner) => partner.series?.finished?.length > 0));
  if (partners.length === 0 || having.length === 0) return null;
  const section = {
    strategy: having[0],
    longestWait: () => Math.max(0, ...section.strategy.partners.flatMap((one) => one.series?.mean_wait || []).filter(exists)),
  };
  const list = partners.map((_, place) => new PartnerChart(place, section));
  const select = h("select", {
    onchange: () => {
      section.strategy = having[Number(select.value)];
      for (const chart of list) chart.redraw();
    },
  }, having.map((one, index) => h("option", { value: String(index) }, brief(one.name, 50))));
  const grid = (some) => h("div", { class: "partners" }, some.map((chart) => chart.element));
  return h("section", { id: "partners", "aria-labelledby": "partners-title" },
    h("h2", { id: "partners-title" }, "Partners"),
    h("p", { class: "intro" }, "What the customers of each partner see, with one strategy. The wait has the same scale for all partners, so that it shows "
      + "whose jobs wait while another partner keeps the workers."),
    having.length > 1 && h("label", { class: "pick" }, "Strategy ", select),
    grid(list.slice(0, SHOWN_PARTNERS)),
    list.length > SHOWN_PARTNERS && h("details", { class: "more-partners" },
      h("summary", {}, `${list.length - SHOWN_PARTNERS} more partners`), grid(list.slice(SHOWN_PARTNERS))));
}
