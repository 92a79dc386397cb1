// One plot over the simulated time, by uPlot: an axis of time, one of values, and lines.

const zoom = { range: null, button: null, select: null };
const overTime = [];

function setZoom(range) {
  zoom.range = range;
  if (zoom.button) zoom.button.hidden = !range;
  if (zoom.select && !range) zoom.select.value = "";
  // Not from within the chart that is dragged in, which is replaced too.
  requestAnimationFrame(() => { for (const chart of overTime) chart.redraw(); });
}

const wholeTime = () => {
  const ends = strategies.map((one) => (one.series.queue_depth || []).length * (one.series.step || 1));
  return [0, Math.max(1, exists(scenario.duration) ? scenario.duration : 0, ...(scenario.is_cut || !exists(scenario.duration) ? ends : []))];
};
const shownTime = () => zoom.range || wholeTime();
const stepOf = (strategy) => strategy.series.step || 1;
const longestStep = Math.max(1, ...strategies.map(stepOf));

/**
 * The scale of values of plots that are read together: its top, its marks, their texts, and how wide
 * these are. `log` is log(1 + x): logarithmic for what is large, and an empty queue is still on it.
 */
function valueScale({ columns, xs, top = 0, log, format, isTime, height }) {
  const [low, high] = shownTime();
  let most = top;
  for (const column of columns) {
    column.forEach((value, at) => {
      if (exists(value) && xs[at] <= high && xs[at] >= low - longestStep) most = Math.max(most, value);
    });
  }
  most = Math.max(most, 1e-9);
  const end = log ? Math.max(10, most * 1.25) : most * 1.06;
  const place = log ? (value) => Math.log1p(value) / Math.log1p(end) : (value) => value / end;
  const many = Math.max(1, Math.min(5, Math.floor(height / 24)));
  let marks;
  if (log) {
    marks = [0];
    for (let at = end < 100 ? 1 : 10; at <= end; at *= 10) marks.push(at);
  } else if (isTime) {
    marks = marksAt(0, end, timeStep(end, many));
  } else {
    marks = linearMarks(0, end, many);
  }
  // Lines of text need some distance, from the bottom upwards.
  let last = -Infinity;
  marks = marks.filter((mark) => {
    const at = place(mark) * height;
    if (at < last + 17) return false;
    last = at;
    return true;
  });
  const text = (value) => (value === 0 ? "0" : format(value));
  const width = Math.ceil(Math.max(...marks.map((mark) => textWidth(text(mark))))) + 10;
  return { end, log, marks, text, width };
}

/**
 * A plot in `place`. `lines` are `{ label, colour, dash, width, fill, isBars, values }`; `hasTime` is whether
 * the marks of time stand below it, `hasLabels` whether outages are named above it.
 */
function timePlot(place, { xs, lines, scale, width, height, axisWidth, hasTime, hasLabels, onPoint }) {
  const palette = colours();
  const [low, high] = shownTime();
  const axis = {
    stroke: palette.soft, font, grid: { stroke: palette.grid, width: 1 }, ticks: { show: false },
    border: { show: false }, gap: 8, filter: (u, marks) => marks,
  };
  const right = 24; // half of the last mark's text
  const time = timeMarks(low, high, width - axisWidth - right);
  const texts = timeTexts(time.marks, time.step);
  const foot = hasTime ? (texts.some((text) => text.includes("\n")) ? 42 : 26) : 8;
  const names = outages.length > 0 && hasLabels;
  const u = new uPlot({
    width,
    height: height + foot + (names ? 22 : 8),
    padding: [names ? 22 : 8, right, hasTime ? 0 : 8, 0],
    legend: { show: false },
    focus: { alpha: 0.18 },
    cursor: {
      sync: { key: "time", setSeries: false },
      drag: { x: true, y: false, setScale: false, dist: 6 },
      points: { size: 7, width: 1.5, fill: (plot, index) => plot.series[index].stroke() },
      y: false,
      bind: { dblclick: () => () => { setZoom(null); return null; } },
    },
    scales: {
      x: { time: false, range: () => [low, high] },
      y: {
        distr: scale.log ? 100 : 1,
        fwd: (value) => Math.log1p(value),
        bwd: (value) => Math.expm1(value),
        range: () => [0, scale.end],
      },
    },
    axes: [
      {
        ...axis,
        size: hasTime ? foot : 0,
        splits: () => time.marks,
        values: (plot, marks) => marks.map((_, at) => (hasTime ? texts[at] : "")),
      },
      { ...axis, size: axisWidth, splits: () => scale.marks, values: (plot, marks) => marks.map(scale.text) },
    ],
    series: [{}, ...lines.map((line) => ({
      label: line.label,
      stroke: line.colour,
      fill: line.fill,
      dash: line.dash,
      // Bars leave a gap where there is no value, and show one that stands alone.
      paths: line.isBars ? uPlot.paths.bars({ size: [1], align: 1 }) : undefined,
      width: line.isBars ? 0 : line.width || 1.3,
      points: { show: false },
      spanGaps: true,
    }))],
    drawOrder: ["axes", "series"],
    hooks: {
      drawClear: [(plot) => drawOutages(plot, hasLabels)],
      setSelect: [(plot) => {
        if (plot.select.width <= 6) return;
        const range = [0, plot.select.width].map((more) => plot.posToVal(plot.select.left + more, "x"));
        plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        if (range[1] - range[0] >= 3 * longestStep) setZoom(range);
      }],
      setCursor: [onPoint],
    },
  }, [xs, ...lines.map((line) => line.values)], place);
  return u;
}
