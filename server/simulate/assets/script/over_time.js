// The charts over time, and what part of the time they show.

/** A day, or the time around an outage, for those who cannot drag over it. */
function timeSelect() {
  const [, end] = wholeTime();
  const days = Math.ceil(end / DAY - 1e-9);
  const ranges = [];
  const option = (range, text) => h("option", { value: String(ranges.push(range) - 1) }, text);
  const around = outages.slice(0, 64).map(({ from, to, short }) => {
    const room = Math.max(to - from, 3 * longestStep);
    return option([Math.max(0, from - room), Math.min(end, to + room)], `${capital(short)}, ${moment(from)}`);
  });
  const ofDays = days < 2 ? [] : Array.from({ length: days }, (_, day) => option([day * DAY, Math.min(end, (day + 1) * DAY)], `Day ${decimals(day + 1, 0)}`));
  if (around.length + ofDays.length === 0) return null;
  zoom.select = h("select", { onchange: () => setZoom(zoom.select.value === "" ? null : ranges[Number(zoom.select.value)]) },
    h("option", { value: "" }, "All of it"),
    around.length > 0 && h("optgroup", { label: "Around an outage" }, around),
    ofDays.length > 0 && h("optgroup", { label: "One day" }, ofDays));
  return h("label", { class: "pick" }, "Time shown ", zoom.select);
}

function timeSection() {
  const series = (key) => (strategy) => strategy.series[key] || [];
  const has = (key) => strategies.some((one) => series(key)(one).length > 0);
  const list = [
    new TimeChart({
      id: "queue-depth", title: "Queue depth", what: "Jobs that wait", isMaximum: true,
      value: series("queue_depth"), format: number, log: farApart("queue_depth"),
    }),
    new TimeChart({
      id: "throughput", title: "Throughput", what: "Jobs finished per second",
      value: series("finished_per_second"), format: number,
    }),
  ];
  if (has("enqueued_per_second")) {
    list.push(new TimeChart({
      id: "enqueued", title: "Jobs enqueued in a second", isMaximum: true,
      value: series("enqueued_per_second"), format: number, log: farApart("enqueued_per_second"),
    }));
  }
  if (has("busy_workers")) {
    list.push(new TimeChart({
      id: "busy-workers", title: "Busy workers", what: "Workers with a job",
      value: series("busy_workers"), format: number,
      top: Math.max(0, ...strategies.map((one) => peakOf(one, "workers"))),
    }));
  }
  return h("section", { "aria-labelledby": "over-time" },
    h("h2", { id: "over-time" }, "Over time"),
    h("p", { class: "intro" }, "The scenario begins at midnight of its day 1. All charts share the axis of time; ",
      h("span", { class: "by-mouse" }, "drag over a part of it to enlarge that in all of them, and double-click to go back."),
      h("span", { class: "by-touch" }, "choose a part of it to enlarge that in all of them."),
      strategies.length > 1 && " Where lines would hide one another, each strategy has a row, all with the same scale.",
      outagesSentence()),
    timeSelect(),
    list.map((chart) => chart.element));
}
