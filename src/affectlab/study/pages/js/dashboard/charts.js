// Small charts. What they show also stands in words: in a label, or in the table around them.

import { el } from "../dom.js";

const SPACE = "http://www.w3.org/2000/svg";

function svg(name, given = {}, ...children) {
  const made = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(given)) {
    if (key === "text") made.textContent = value;
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

/** A chart that is read out as one sentence; without one, what stands beside it says it all. */
function frame(width, height, label, ...children) {
  const told = label ? { role: "img", "aria-label": label } : { "aria-hidden": "true" };
  return svg(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, class: "chart", focusable: "false", ...told },
    ...children,
  );
}

/**
 * Bars side by side, as wide as there is room.
 *
 * @param {number[]} counts
 * @param {string} label - What they show, in a sentence.
 * @param {Object} [beside] - `ticks`: [place in 0…1, text] below; `dots`: {place, far} below the
 *   bars; `mark`: a place that is marked.
 */
export function bars(counts, label, { ticks = [], dots = [], mark = null } = {}) {
  const [width, height] = [100, 50];
  const most = Math.max(1, ...counts);
  const step = width / Math.max(1, counts.length);
  const parts = counts.map((n, place) => {
    const tall = n ? Math.max(1, (n / most) * height) : 0;
    const given = { x: place * step + step * 0.08, width: step * 0.84 };
    return svg("rect", { ...given, y: height - tall, height: tall, class: "bar" });
  });
  if (mark !== null) {
    const x = mark * width;
    parts.push(svg("line", { x1: x, x2: x, y1: 0, y2: height, class: "mark" }));
  }
  const made = frame(width, height, label, ...parts);
  // Stretched both ways: texts and dots, which must not be, stand outside of it.
  made.setAttribute("preserveAspectRatio", "none");
  made.classList.add("bars");
  const strip = (kind, content) => el("div", { class: kind, "aria-hidden": "true" }, ...content);
  return el(
    "div",
    { class: "barred" },
    made,
    dots.length
      ? strip("dots", dots.map(({ place, far }) => placed(place, "span", far ? "far" : "")))
      : null,
    strip("ticks", ticks.map(([place, text]) => placed(place, "span", ends(place), text))),
  );
}

const ends = (place) => (place < 0.05 ? "first" : place > 0.95 ? "last" : "");

function placed(place, name, kind, text = "") {
  const made = el(name, { class: kind, text });
  made.style.left = `${(100 * place).toFixed(2)}%`;
  return made;
}

/** One value with its interval on a common axis. */
export function whisker(value, low, high, from, to) {
  const [width, height] = [200, 18];
  const at = (one) => 6 + ((Math.min(to, Math.max(from, one)) - from) / (to - from)) * (width - 12);
  const middle = height / 2;
  const parts = [
    svg("line", { x1: 6, x2: width - 6, y1: middle, y2: middle, class: "rail" }),
    svg("line", { x1: at(0), x2: at(0), y1: 0, y2: height, class: "zero" }),
  ];
  if (low !== null && high !== null) {
    const given = { x1: at(low), x2: at(high), y1: middle, y2: middle };
    parts.push(svg("line", { ...given, class: "whisker" }));
  }
  if (value !== null) parts.push(svg("circle", { cx: at(value), cy: middle, r: 4, class: "dot" }));
  return frame(width, height, "", ...parts);
}

/** A bar of a share. */
export function share(part) {
  const width = 200;
  return frame(
    width,
    10,
    "",
    svg("rect", { x: 0, y: 2, width, height: 6, rx: 3, class: "rail-box" }),
    svg("rect", { x: 0, y: 2, width: Math.max(part ? 3 : 0, part * width), height: 6, rx: 3, class: "bar" }),
  );
}

/** One cell for every stimulus, filled as far as it is done. */
export function cells(shares, label) {
  const [size, gap, columns] = [14, 4, Math.min(40, shares.length)];
  const rows = Math.ceil(shares.length / columns);
  const parts = shares.flatMap((part, number) => {
    const x = (number % columns) * (size + gap);
    const y = Math.floor(number / columns) * (size + gap);
    const box = { x, y, width: size, height: size, rx: 3 };
    const tall = part * size;
    const kind = part === 1 ? "cell full" : "cell part";
    const given = part === 1 ? box : { ...box, y: y + size - tall, height: tall, rx: 1.5 };
    return [svg("rect", { ...box, class: "cell" }), svg("rect", { ...given, class: kind })];
  });
  const [width, height] = [columns * (size + gap) - gap, rows * (size + gap) - gap];
  const made = frame(width, height, label, ...parts);
  made.setAttribute("width", width);
  made.classList.add("cells");
  return made;
}
