// How strong is each emotion: a row of numbers, or a slider, for each label. A label that is left
// alone is not rated, which is not the same as 0.

import { el, freshId } from "./dom.js";
import { submitButton } from "./stages.js";
import { t } from "./texts.js";

export function ratings({ trial, send, problem }) {
  const make = trial.widget === "slider" ? sliderRow : radioRow;
  const rows = trial.labels.map((label) => make(label, trial));
  const counted = el("span", { class: "soft", role: "status" });
  const rated = () => rows.filter((row) => row.value() !== null).length;
  const recount = () => {
    counted.textContent = t("ratings.count", { rated: rated(), all: rows.length });
    problem.textContent = "";
  };
  const form = el(
    "form",
    { class: "ratings", oninput: recount, onclick: recount },
    trial.anchors
      ? el(
          "p",
          { class: "anchors" },
          el("span", { text: `${trial.scale.low} = ${trial.anchors[0]}` }),
          el("span", { text: `${trial.scale.high} = ${trial.anchors[1]}` }),
        )
      : null,
    ...grouped(trial.labels, rows),
    el("div", { class: "actions sticky" }, submitButton(t("answer")), counted),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  const submit = () => {
    const least = trial.not_rated ? trial.rules.min_labels : rows.length;
    if (rated() < least) {
      problem.textContent = t("ratings.least", { least });
      rows.find((row) => row.value() === null).focus();
      return;
    }
    const strong = rows.filter((row) => row.value()).length;
    if (trial.rules.max_nonzero && strong > trial.rules.max_nonzero) {
      problem.textContent = t("ratings.most", { most: trial.rules.max_nonzero });
      return;
    }
    send({ ratings: Object.fromEntries(rows.map((row) => [row.label, row.value()])) });
  };
  recount();
  return {
    layout: "split",
    node: form,
    // Digits rate the row that has the focus, and go on to the next: one key per label.
    onKey: (event) => {
      const place = rows.findIndex((row) => row.node.contains(document.activeElement));
      if (event.key === "Enter" && event.target.tagName !== "BUTTON" && event.target.tagName !== "SUMMARY") {
        event.preventDefault();
        submit();
      } else if (/^[0-9]$/.test(event.key) && place >= 0 && rows[place].set(Number(event.key))) {
        event.preventDefault();
        recount();
        (rows[place + 1] ?? rows[place]).focus();
      } else if ((event.key === "Delete" || event.key === "Backspace") && place >= 0) {
        event.preventDefault();
        rows[place].clear();
        recount();
      }
    },
  };
}

/** Rows under the names of their groups, where there are any. */
function grouped(labels, rows) {
  const parts = [];
  let before = null;
  labels.forEach((label, place) => {
    const group = label.groups.join(" · ");
    if (group && group !== before) parts.push(el("h2", { class: "group", text: group }));
    before = group;
    parts.push(rows[place].node);
  });
  return parts;
}

/** Name of a label, with its definition on demand. */
function heading(label) {
  const more = [label.definition, label.words.join(", ")].filter(Boolean);
  const name = [label.emoji, label.name].filter(Boolean).join(" ");
  if (!more.length) return { name, node: el("span", { class: "name", text: name }) };
  return {
    name,
    node: el(
      "details",
      { class: "name" },
      el("summary", { text: name }),
      ...more.map((text) => el("p", { class: "soft", text })),
    ),
  };
}

function radioRow(label, trial) {
  const group = freshId("rating");
  const { name, node } = heading(label);
  const inputs = trial.scale.levels.map((level) =>
    el("input", { type: "radio", name: group, value: String(level), "aria-label": String(level) }),
  );
  const clear = el("button", {
    type: "button",
    class: "quiet clear",
    "aria-label": t("ratings.clear.label", { label: name }),
    title: t("ratings.clear"),
    text: "×",
  });
  const row = el(
    "fieldset",
    { class: "row" },
    el("legend", { class: "hidden", text: name }),
    node,
    el(
      "div",
      { class: "levels" },
      ...inputs.map((input) =>
        el("label", { class: "level" }, input, el("span", { "aria-hidden": "true", text: input.value })),
      ),
    ),
    clear,
  );
  const empty = () => inputs.forEach((input) => { input.checked = false; });
  clear.addEventListener("click", empty);
  return {
    label: label.name,
    node: row,
    value: () => {
      const chosen = inputs.find((input) => input.checked);
      return chosen ? Number(chosen.value) : null;
    },
    set: (value) => {
      const wanted = inputs.find((input) => Number(input.value) === value);
      if (wanted) wanted.checked = true;
      return Boolean(wanted);
    },
    clear: empty,
    focus: () => (inputs.find((input) => input.checked) ?? inputs[0]).focus(),
  };
}

/** A slider counts once it was touched, by mouse, finger or key; where it stands before is no answer. */
function sliderRow(label, trial) {
  const { low, high, step } = trial.scale;
  const { name, node } = heading(label);
  const shown = el("output", { class: "soft", text: t("ratings.none") });
  const input = el("input", {
    type: "range",
    min: low,
    max: high,
    step: step ?? "any",
    value: String(low),
    "aria-label": name,
    "aria-valuetext": t("ratings.none"),
  });
  let touched = false;
  const say = () => {
    const text = touched ? input.value : t("ratings.none");
    shown.textContent = text;
    input.setAttribute("aria-valuetext", text);
    row.classList.toggle("untouched", !touched);
  };
  const touch = () => {
    touched = true;
    say();
  };
  const empty = () => {
    touched = false;
    input.value = String(low);
    say();
  };
  const row = el(
    "div",
    { class: "row slider untouched" },
    node,
    input,
    shown,
    el("button", {
      type: "button",
      class: "quiet clear",
      "aria-label": t("ratings.clear.label", { label: name }),
      title: t("ratings.clear"),
      text: "×",
      onclick: empty,
    }),
  );
  // A click on where it stands already is an answer, too, and so is a key.
  ["input", "pointerup"].forEach((kind) => input.addEventListener(kind, touch));
  input.addEventListener("keydown", (event) => {
    if (event.key === " " || event.key.startsWith("Arrow") || event.key === "Home") touch();
  });
  return {
    label: label.name,
    node: row,
    value: () => (touched ? Number(input.value) : null),
    set: (value) => {
      if (value < low || value > high) return false;
      input.value = String(value);
      touch();
      return true;
    },
    clear: empty,
    focus: () => input.focus(),
  };
}
