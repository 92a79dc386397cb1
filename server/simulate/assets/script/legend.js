// Showing and hiding strategies, in all charts at once.

const charts = []; // each: { update(), highlight(strategy or null), redraw(), resize() }
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
    }, swatch(strategy), nameOf(strategy), tag(strategy));
    chips.set(strategy, chip);
    bar.append(chip);
  }
  // In the bar, as that stays on the screen.
  zoom.button = h("button", { type: "button", class: "reset", hidden: true, onclick: () => setZoom(null) }, "Show all of the time");
  bar.append(zoom.button);
  return [
    strategies.length > 1 && h("p", { class: "legend-hint" }, "Click a strategy to hide it in all charts, once more to show it."),
    bar,
  ];
}
