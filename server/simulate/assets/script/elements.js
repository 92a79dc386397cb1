// Elements of the page. All text that comes from the results is set as text, never as markup: names
// in scenarios are whatever somebody wrote there.

const root = document.documentElement;
const main = document.getElementById("report");

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name.startsWith("--")) element.style.setProperty(name, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
  return element;
}

/** An HTML element. Children are nodes or texts; false and null are left out. */
function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** An SVG element. */
function s(tag, attributes, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

/** A collapsed part. What `make` returns is made when it is first opened: there may be much of it. */
function later(summary, attributes, make) {
  const details = h("details", attributes, h("summary", {}, summary));
  details.addEventListener("toggle", () => {
    if (details.open && details.children.length === 1) details.append(make());
  });
  return details;
}

const scrollers = []; // each: a function that looks whether its table is wider than its place

/** A table that scrolls sideways, and says so, where it is wider than its place. */
function scroller(label, table) {
  const scroll = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, table);
  const frame = h("div", { class: "scroll-frame" },
    h("p", { class: "scroll-hint", "aria-hidden": "true" }, "More columns on the right: the table scrolls sideways →"), scroll);
  const look = () => {
    const hidden = scroll.scrollWidth - scroll.clientWidth;
    frame.classList.toggle("is-wide", hidden > 2);
    frame.classList.toggle("has-more", hidden - scroll.scrollLeft > 2);
  };
  scroll.addEventListener("scroll", look, { passive: true });
  scrollers.push(look);
  return frame;
}

/** Beside the pointer, within its plot. */
function placeTip(tip, left, width) {
  const room = width - tip.offsetWidth;
  const beside = left + 16 > room ? left - tip.offsetWidth - 16 : left + 16;
  tip.style.left = `${Math.max(0, Math.min(room, beside))}px`;
}
