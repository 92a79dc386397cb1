// The heading, and what a reader must know before anything is called good.

function header() {
  const facts = [
    ["Users", number(scenario.population)],
    ["Cycle", duration(scenario.cycle)],
    ["Workers", number(scenario.workers)],
    ["Simulated time", duration(scenario.duration)],
    ["Strategies", number(strategies.length)],
    [seeds.length === 1 ? "Seed" : "Seeds", seeds.length > 6 ? number(seeds.length) : seeds.join(", ") || "–"],
  ];
  return h("header", {},
    h("p", { class: "eyebrow" }, "Offbeat simulation", scenario.is_cut && " (cut short)"),
    h("h1", {}, chosen(scenario.name || "Unnamed scenario")),
    scenario.description && h("p", { class: "description" }, chosen(scenario.description)),
    scenario.notes?.length > 0 && h("ul", { class: "notes", "aria-label": "How the scenario was understood" },
      scenario.notes.map((note) => h("li", {}, chosen(note)))),
    h("dl", { class: "facts" }, facts.map(([term, text]) => h("div", {}, h("dt", {}, term), h("dd", {}, text)))),
    seeds.length > 1 && h("p", { class: "of-seeds" },
      `Figures are means over ${seeds.length} seeds; the charts over time and of the intervals show the first, ${seeds[0]}.`),
  );
}

/** More than these are folded away: a long list hides the first ones. */
const SHOWN_FINDINGS = 8;

function findingsPart() {
  const findings = results.findings || [];
  if (findings.length === 0) return null;
  const list = (texts) => h("ul", {}, texts.map((text) => h("li", {}, chosen(text.replace(/^day /, "Day ")))));
  return h("section", { id: "findings", class: `findings panel${strategies.some((one) => one.pilesUp) ? " bad" : ""}`, "aria-labelledby": "findings-title" },
    h("h2", { id: "findings-title" }, "Can it be done?"),
    list(findings.slice(0, SHOWN_FINDINGS)),
    findings.length > SHOWN_FINDINGS && later(`${findings.length - SHOWN_FINDINGS} more`, {}, () => list(findings.slice(SHOWN_FINDINGS))));
}
