// What was needed and what there was, in each part of the run in which nothing changes from outside.

/** Calls in a second that the jobs of a strategy need of a partner, on average. */
function meanCalls(strategy, place) {
  let calls = 0;
  let seconds = 0;
  for (const phase of strategy.feasibility.phases || []) {
    calls += (phase.partners[place]?.calls_needed || 0) * (phase.to - phase.from);
    seconds += phase.to - phase.from;
  }
  return calls / Math.max(1, seconds);
}

/** A figure above what there is stands out. */
const against = (needed, available) => (exists(available) && needed > available ? "lacking" : null);

function downIn(phase) {
  const down = partners.filter((_, place) => phase.partners[place]?.is_down).map((one) => brief(one.name, 30));
  if (phase.producer_is_down) down.push("producer");
  return down.length ? chosen(down.join(", ")) : "–";
}

function phasesTable(strategy) {
  const columns = ["Needed", "Available", "Busy", "Mean wait", "Deepest queue"];
  const calls = [`Calls${GAP}/${GAP}s needed`, "Allowed", "Workers waiting in vain"];
  return h("table", { class: "phases" },
    h("caption", {}, named(strategy)),
    h("thead", {},
      partners.length > 0 && h("tr", {},
        h("th", { colspan: 2 }), h("th", { colspan: 5, scope: "colgroup", class: "text" }, "Workers and jobs"),
        partners.map((one) => h("th", { colspan: 3, scope: "colgroup", class: "text edge" }, chosen(one.name, 40)))),
      h("tr", {},
        h("th", { scope: "col", class: "text" }, "From, to"), h("th", { scope: "col", class: "text" }, "Down"),
        columns.map((text) => h("th", { scope: "col" }, text)),
        partners.map(() => calls.map((text, index) => h("th", { scope: "col", class: index ? null : "edge" }, text))))),
    h("tbody", {}, (strategy.feasibility.phases || []).map((phase) => h("tr", {},
      h("th", { scope: "row", class: "text when" }, period(phase.from, phase.to)),
      h("td", { class: "text" }, downIn(phase)),
      h("td", { class: against(phase.workers_needed, phase.workers_available) }, number(phase.workers_needed)),
      h("td", {}, number(phase.workers_available)),
      h("td", {}, number(phase.busy_workers)),
      h("td", {}, duration(phase.mean_wait)),
      h("td", {}, whole(phase.max_queue_depth)),
      phase.partners.map((one) => [
        h("td", { class: `edge ${against(one.calls_needed, one.calls_allowed) || ""}` }, number(one.calls_needed)),
        h("td", {}, exists(one.calls_allowed) ? number(one.calls_allowed) : "no limit"),
        h("td", {}, number(one.unanswered_workers)),
      ])))));
}

function phasesPart() {
  const list = ordered.filter((one) => one.feasibility.phases?.length > 0);
  if (list.length === 0) return null;
  return later("Phases: the workers and calls that were needed, and those there were", { id: "phases" }, () => {
    const result = h("div", { class: "all-panel panel" },
      h("p", { class: "caption" }, "A phase ends where the workers of the scenario change, or where an outage begins or ends. Needed: the workers that the jobs enqueued in it would keep busy, without repeated attempts; where that is more than there were, it is in bold."),
      list.map((strategy) => scroller(`Phases of ${strategy.name}`, phasesTable(strategy))));
    requestAnimationFrame(() => scrollers.forEach((look) => look()));
    return result;
  });
}
