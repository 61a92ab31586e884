"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const n = data.x.length;
  const byId = (id) => document.getElementById(id);
  const plot = byId("plot"), card = byId("card"), find = byId("find");
  const shown = data.labels.map(() => true);
  let unlabelled = true;
  const folded = data.names.map((name, k) =>
    (name + "\n" + (data.texts ? data.texts[k] || "" : "") + "\n" +
      data.chosen[k].map((at) => data.labels[at]).join("\n")).toLowerCase());

  const canvas = document.createElement("canvas");
  const fast = Boolean(window.WebGLRenderingContext && (canvas.getContext("webgl2") || canvas.getContext("webgl")));
  const type = fast ? "scattergl" : "scatter";
  const size = () => Math.max(1.8, Math.min(11, 0.44 * Math.min(plot.clientWidth, plot.clientHeight) / Math.sqrt(n)));
  const tone = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  function chosenRows() {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    const on = [], off = [];
    for (let k = 0; k < n; k++) {
      const own = data.chosen[k];
      const ticked = own.length ? own.some((at) => shown[at]) : unlabelled;
      const fits = ticked && words.every((word) => folded[k].includes(word));
      (fits ? on : off).push(k);
    }
    return [on, off, words.length > 0];
  }

  function traces() {
    const [on, off, searched] = chosenRows();
    const pick = (values, rows) => rows.map((k) => values[k]);
    byId("found").textContent = on.length.toLocaleString("en") + (searched || off.length ? " of " + n.toLocaleString("en") : "") +
      (n === 1 ? " stimulus" : " stimuli");
    return [
      { type, mode: "markers", x: pick(data.x, off), y: pick(data.y, off), hoverinfo: "skip",
        marker: { size: 0.75 * size(), color: tone("--line"), opacity: 0.55 } },
      { type, mode: "markers", x: pick(data.x, on), y: pick(data.y, on), customdata: on, hoverinfo: "none",
        marker: { size: size(), color: pick(data.colours, on), opacity: 0.88 } },
    ];
  }

  function layout() {
    const axis = { visible: false, fixedrange: false };
    return { showlegend: false, dragmode: "pan", hovermode: "closest", hoverdistance: 12, uirevision: "same",
      modebar: { bgcolor: "rgba(0,0,0,0)", color: tone("--soft"), activecolor: tone("--ink") },
      margin: { l: 8, r: 8, t: 8, b: 8 }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      xaxis: { ...axis }, yaxis: { ...axis, scaleanchor: "x" } };
  }

  // Named one by one: none of these buttons sends anything anywhere.
  const config = { responsive: true, scrollZoom: true, displaylogo: false,
    modeBarButtons: [["toImage"], ["pan2d", "zoom2d"], ["zoomIn2d", "zoomOut2d", "resetScale2d"]] };
  const draw = () => Plotly.react(plot, traces(), layout(), config).then(write);
  let waiting = 0;
  const later = () => { clearTimeout(waiting); waiting = setTimeout(draw, 120); };

  const middle = (values) => values.sort((a, b) => a - b)[values.length >> 1];
  const names = data.labels.map((name, at) => {
    const own = data.chosen.flatMap((labels, k) => (labels.includes(at) ? [k] : []));
    const alone = own.filter((k) => data.chosen[k].length === 1);
    const rows = alone.length ? alone : own;
    const span = document.createElement("span");
    span.textContent = name;
    byId("names").append(span);
    return { at, span, count: own.length, x: middle(rows.map((k) => data.x[k])), y: middle(rows.map((k) => data.y[k])) };
  }).sort((a, b) => b.count - a.count);

  // Names stand where most stimuli of their label are; of two that would overlap, the rarer goes.
  function write() {
    const { xaxis, yaxis } = plot._fullLayout;
    const taken = [];
    for (const { at, span, count, x, y } of names) {
      span.hidden = !count || !shown[at];
      if (span.hidden) { continue; }
      const left = xaxis._offset + xaxis.l2p(x), top = yaxis._offset + yaxis.l2p(y);
      span.style.left = left + "px";
      span.style.top = top + "px";
      const box = [left, top, span.offsetWidth, span.offsetHeight];
      span.hidden = taken.some((other) => Math.abs(other[0] - left) < (other[2] + box[2]) / 2 && Math.abs(other[1] - top) < (other[3] + box[3]) / 2);
      if (!span.hidden) { taken.push(box); }
    }
  }

  function item(colour, text, extra) {
    const li = document.createElement("li");
    const dot = document.createElement("span");
    dot.className = "dot";
    dot.style.background = colour;
    const span = document.createElement("span");
    span.className = "label";
    span.textContent = text;
    span.dir = "auto";
    li.append(dot, span);
    if (extra) { li.title = extra; }
    return li;
  }

  function show(k, event) {
    const image = card.querySelector("img");
    const uri = data.images ? data.images[k] : null;
    image.hidden = !uri;
    if (uri) { image.src = uri; } else { image.removeAttribute("src"); }
    const text = card.querySelector(".text");
    text.textContent = data.texts ? data.texts[k] || "" : "";
    text.hidden = !text.textContent;
    const list = card.querySelector("ul");
    list.replaceChildren();
    const shares = data.shares[k].slice().sort((a, b) => b[1] - a[1]).slice(0, 8);
    for (const [at, share] of shares) {
      const words = share < 1 ? data.labels[at] + " " + Math.round(100 * share) + " %" : data.labels[at];
      const li = item(data.labelColours[at], words);
      if (!data.chosen[k].includes(at)) { li.className = "less"; }
      list.append(li);
    }
    if (!shares.length) { list.append(item(data.grey, "no label")); }
    card.querySelector(".name").textContent = data.names[k];
    card.hidden = false;
    const box = card.getBoundingClientRect();
    const gap = 14;
    const left = event.clientX + gap + box.width > innerWidth ? event.clientX - gap - box.width : event.clientX + gap;
    const top = Math.min(event.clientY + gap, innerHeight - box.height - 8);
    card.style.left = Math.max(8, left) + "px";
    card.style.top = Math.max(8, top) + "px";
  }

  function legend() {
    const list = byId("legend");
    const counts = data.labels.map(() => 0);
    let without = 0;
    for (const own of data.chosen) {
      own.forEach((at) => { counts[at] += 1; });
      if (!own.length) { without += 1; }
    }
    const rows = data.labels.map((name, at) => [name, data.labelColours[at], counts[at], at]);
    if (without) { rows.push(["no label", data.grey, without, -1]); }
    for (const [name, colour, count, at] of rows) {
      const li = document.createElement("li");
      const label = document.createElement("label");
      const box = document.createElement("input");
      box.type = "checkbox";
      box.checked = true;
      box.dataset.at = at;
      box.addEventListener("change", () => { set(at, box.checked); later(); });
      const dot = document.createElement("span");
      dot.className = "dot";
      dot.style.background = colour;
      const words = document.createElement("span");
      words.className = "label";
      words.textContent = name;
      words.title = name;
      words.dir = "auto";
      label.append(box, dot, words);
      const only = document.createElement("button");
      only.type = "button";
      only.className = "only";
      only.textContent = "only";
      only.setAttribute("aria-label", "only " + name);
      only.addEventListener("click", () => { every(false); set(at, true); box.checked = true; draw(); });
      const number = document.createElement("span");
      number.className = "count";
      number.textContent = count.toLocaleString("en");
      li.append(label, only, number);
      list.append(li);
    }
  }

  const set = (at, value) => { if (at < 0) { unlabelled = value; } else { shown[at] = value; } };
  function every(value) {
    shown.fill(value);
    unlabelled = value;
    document.querySelectorAll("#legend input").forEach((box) => { box.checked = value; });
  }

  legend();
  document.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
  find.addEventListener("input", later);
  addEventListener("resize", later);
  byId("all").addEventListener("click", () => { every(true); draw(); });
  byId("none").addEventListener("click", () => { every(false); draw(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  draw().then(() => {
    plot.on("plotly_relayout", write);
    plot.on("plotly_relayouting", write);
    plot.on("plotly_hover", (hover) => {
      const point = hover.points.find((each) => each.curveNumber === 1);
      if (point) { show(point.customdata, hover.event); }
    });
    plot.on("plotly_unhover", () => { card.hidden = true; });
    if (!fast && n > 5000) {
      const note = byId("problem");
      note.textContent = "This browser draws without WebGL: with so many stimuli the map reacts slowly.";
      note.hidden = false;
    }
    document.body.dataset.ready = type;
  });
})();
