// The page, put together.

function footer() {
  return h("footer", {},
    h("p", {}, "Variation is the standard deviation divided by the mean. Strategies whose figures are within 1 % share a rank. "
      + "Percentiles, means and maxima are over all simulated time."),
    h("p", {}, "Made by ", h("code", {}, "offbeat simulate"), ". The same scenario and seeds give the same results; "
      + "they are in the source of this page, as JSON."));
}

/** Charts have the width that their place has, now and when that changes. */
function followWidth() {
  let asked = false;
  const fit = () => {
    asked = false;
    for (const chart of charts) chart.resize?.();
    for (const look of scrollers) look();
    root.dataset.ready = "true";
  };
  new ResizeObserver(() => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(fit);
  }).observe(main);
  fit();
}

/** On paper: the light colours, the width of the paper, and all figures. */
function followPrint() {
  const redrawAll = () => { for (const chart of charts) chart.redraw(); };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
  const closed = [];
  addEventListener("beforeprint", () => {
    root.classList.add("printing");
    for (const details of document.querySelectorAll("#all-figures:not([open])")) {
      details.open = true;
      closed.push(details);
    }
    redrawAll();
  });
  addEventListener("afterprint", () => {
    root.classList.remove("printing");
    for (const details of closed.splice(0)) details.open = false;
    redrawAll();
  });
}

function showPage() {
  if (parsed.error) {
    main.append(h("p", { class: "failure" }, `The results in this page cannot be read: ${parsed.error.message}`));
    return;
  }
  document.title = `${scenario.name || "Simulation"} · Offbeat`;
  if (!strategies.length) {
    main.append(header(), h("p", { class: "none" }, "The results hold no strategy."));
    root.dataset.ready = "true";
    return;
  }
  main.append(...[
    header(),
    findingsPart(),
    answer(),
    criteriaPart(),
    strategies.length > 1 && rankingTable(),
    allFigures(),
    phasesPart(),
    legend(),
    timeSection(),
    partnersSection(),
    intervalSection(),
    ringSection(),
    lanesSection(),
    footer(),
  ].flat(Infinity).filter(Boolean));
  followWidth();
  followPrint();
}

showPage();
