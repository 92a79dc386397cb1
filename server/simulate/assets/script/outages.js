// Outages in the charts over time: a band for each, with the name of who is down above it.

/** Bands, and their labels where there is room for them. */
function drawOutages(u, hasLabels) {
  const { ctx, bbox } = u;
  const ratio = devicePixelRatio;
  const palette = colours();
  const right = bbox.left + bbox.width;
  ctx.save();
  ctx.fillStyle = palette.band;
  const shown = [];
  for (const { from, to, short } of outages) {
    let [left, end] = [from, to].map((at) => Math.max(bbox.left, Math.min(right, u.valToPos(at, "x", true))));
    if (to <= u.scales.x.min || from >= u.scales.x.max) continue;
    // Three hours of two weeks are less than a pixel on a telephone.
    if (end - left < 2 * ratio) end = left + 2 * ratio;
    ctx.fillRect(left, bbox.top, end - left, bbox.height);
    shown.push({ left, end, short });
  }
  if (hasLabels) {
    ctx.font = `${12 * ratio}px ${family}`;
    ctx.textAlign = "left";
    ctx.textBaseline = "alphabetic";
    ctx.fillStyle = palette.soft;
    let taken = -Infinity;
    for (const { left, end, short } of shown) {
      const width = ctx.measureText(short).width;
      const wanted = Math.max(bbox.left, Math.min(right - width, (left + end - width) / 2));
      // Beside the label before, if it still stands above its own band.
      const at = Math.max(wanted, taken + 10 * ratio);
      if (width > bbox.width || at + width > right || at > Math.max(wanted, end)) continue;
      ctx.fillText(short, at, bbox.top - 7 * ratio);
      taken = at + width;
    }
  }
  ctx.restore();
}

/** Who is down between two times, for the values at the pointer. */
const outagesAt = (from, to) => outages.filter((one) => one.from < to && one.to > from)
  .map((one) => h("div", { class: "when" }, capital(one.long)));

/** No more are listed below the heading. */
const SHOWN_OUTAGES = 4;

function outagesSentence() {
  if (outages.length === 0) return null;
  const told = outages.slice(0, SHOWN_OUTAGES).map((one) => [chosen(one.long), ` (${period(one.from, one.to)})`]);
  const more = outages.length - told.length;
  return [" Bands are outages: ", listed([...told, ...(more > 0 ? [`${more} more`] : [])]), "."];
}
