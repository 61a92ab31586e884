// Which emotions are there: check boxes in a table of groups, and choices that stand alone.

import { el, freshId } from "./dom.js";
import { submitButton } from "./stages.js";
import { t } from "./texts.js";

const KEYS = "abcdefghijklmnopqrstuvwxyz";

export function choices({ trial, send, problem }) {
  const boxes = trial.labels.map((label, place) => box(label.name, label, KEYS[place] ?? ""));
  const options = trial.options.map((name) => box(name, null, ""));
  const all = [...boxes, ...options];
  const alone = new Set(trial.exclusive);
  const suggestion = el("input", { type: "text", maxlength: 100, autocomplete: "off", id: freshId("suggestion") });
  const exclude = (changed) => {
    problem.textContent = "";
    if (!changed.input.checked) return;
    const single = alone.has(changed.name);
    all.forEach((one) => {
      if (one !== changed && (single || alone.has(one.name))) one.input.checked = false;
    });
  };
  all.forEach((one) => one.input.addEventListener("change", () => exclude(one)));
  const submit = () => {
    const chosen = all.filter((one) => one.input.checked).map((one) => one.name);
    const { min_labels: least, max_labels: most } = trial.rules;
    if (chosen.length < least) {
      problem.textContent = t("choices.least", { least });
      return;
    }
    if (most && chosen.length > most) {
      problem.textContent = t("choices.most", { most });
      return;
    }
    const text = suggestion.value.trim();
    send(text ? { chosen, suggestion: text } : { chosen });
  };
  const defined = trial.labels.some((label) => label.definition);
  const definitions = el("input", { type: "checkbox" });
  definitions.addEventListener("change", () => {
    form.classList.toggle("defined", definitions.checked);
    remember(definitions.checked);
  });
  definitions.checked = remembered();
  const form = el(
    "form",
    { class: definitions.checked ? "choices defined" : "choices" },
    defined
      ? el(
          "label",
          { class: "option definitions" },
          definitions,
          el("span", { text: t("choices.definitions") }),
        )
      : null,
    ...groups(trial, boxes),
    options.length
      ? el("div", { class: "group alone" }, ...options.map((one) => one.node))
      : null,
    trial.rules.suggestions
      ? el(
          "p",
          { class: "field" },
          el("label", { for: suggestion.id, text: trial.note || t("choices.suggest") }),
          suggestion,
        )
      : null,
    el("div", { class: "actions sticky" }, submitButton(t("answer"))),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  return {
    layout: "stacked",
    node: form,
    onKey: (event) => {
      if (event.target === suggestion) return;
      const place = KEYS.indexOf(event.key.toLowerCase());
      if (event.key === "Enter" && event.target.tagName !== "BUTTON" && event.target.tagName !== "SUMMARY") {
        event.preventDefault();
        submit();
      } else if (place >= 0 && place < boxes.length && event.key.length === 1) {
        const one = boxes[place];
        one.input.checked = !one.input.checked;
        one.input.focus();
        exclude(one);
      }
    },
  };
}

/** A fieldset for each group of the display; groups of one row stand together. */
function groups({ labels, legend }, boxes) {
  const parts = new Map();
  labels.forEach((label, place) => {
    const names = [...new Set(label.groups.filter(Boolean))];
    const key = names.join(" · ");
    if (!parts.has(key)) parts.set(key, { row: names[0] ?? "", name: key, nodes: [] });
    parts.get(key).nodes.push(boxes[place].node);
  });
  const found = [...parts.values()];
  const rows = [...new Set(found.map((part) => part.row))];
  return rows.map((row) =>
    el(
      "div",
      { class: "band" },
      ...found
        .filter((part) => part.row === row)
        .map(({ name, nodes }) =>
          el("fieldset", {}, el("legend", { text: name || legend || t("choices.legend") }), ...nodes),
        ),
    ),
  );
}

// Who wants to see definitions wants them in the next trial, too.
let wanted = false;
const remember = (value) => {
  wanted = value;
};
const remembered = () => wanted;

function box(name, label, key) {
  const input = el("input", { type: "checkbox", value: name });
  const more = label ? [label.definition, label.words.join(", ")].filter(Boolean) : [];
  const id = freshId("definition");
  if (more.length) input.setAttribute("aria-describedby", id);
  const shown = [label?.emoji, label ? name : t(`option.${name}`)].filter(Boolean).join(" ");
  const node = el(
    "label",
    { class: "option", title: more.join(" — ") },
    input,
    el("span", { text: shown.startsWith("option.") ? name : shown }),
    key ? el("kbd", { "aria-hidden": "true", text: key }) : null,
    more.length ? el("span", { class: "definition", id, text: more[0] }) : null,
  );
  return { name, input, node };
}
