// What might a person feel, and why: a few entries, each of named text fields. What is written stays
// in this browser until it is sent, so that a reload loses nothing.

import { el, freshId } from "./dom.js";
import { submitButton } from "./stages.js";
import { t } from "./texts.js";

const KEPT = "affectlab-draft";

export function reaction({ trial, send, problem, images }) {
  const { min_labels: atLeast, max_labels: most, distinct } = trial.rules;
  const least = Math.max(1, atLeast);
  const list = el("div", { class: "entries" });
  const entries = [];
  const more = el("button", { type: "button", text: t("entries.add"), onclick: () => add().focus() });

  const renumber = () => {
    entries.forEach((entry, place) => entry.number(place + 1, entries.length > least));
    more.hidden = Boolean(most) && entries.length >= most;
  };
  const remember = () => keep(trial.id, entries.map((entry) => entry.raw()));
  const changed = () => {
    problem.textContent = "";
    remember();
  };
  const add = (texts = {}) => {
    const entry = entryOf(trial.fields, texts, changed, () => remove(entry));
    entries.push(entry);
    list.append(entry.node);
    renumber();
    return entry;
  };
  const remove = (entry) => {
    const place = entries.indexOf(entry);
    entries.splice(place, 1);
    entry.node.remove();
    renumber();
    changed();
    (entries[place] ?? entries[place - 1]).focus();
  };
  const submit = () => {
    entries.forEach((entry) => entry.clean());
    for (const [place, entry] of entries.entries()) {
      const wrong = entry.wrong();
      if (wrong) {
        tell(wrong.input, t(wrong.text, { ...wrong.values, number: place + 1 }));
        return;
      }
    }
    const named = entries.map((entry) => folded(entry.value()[distinct] ?? ""));
    const twice = distinct ? named.findIndex((name, place) => named.indexOf(name) < place) : -1;
    if (twice >= 0) {
      tell(entries[twice].input(distinct), t("entries.twice", { text: entries[twice].value()[distinct] }));
      return;
    }
    send({ entries: entries.map((entry) => entry.value()) });
  };
  const tell = (input, sentence) => {
    problem.textContent = sentence;
    input.setAttribute("aria-invalid", "true");
    input.focus();
  };

  const form = el(
    "form",
    { novalidate: true },
    list,
    el("div", { class: "actions" }, more),
    el("div", { class: "actions" }, submitButton(t("answer"))),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  const drafts = recall(trial.id);
  for (let place = 0; place < Math.max(least, drafts.length); place += 1) add(drafts[place]);
  const [caption, ...others] = trial.stimulus.texts;
  return {
    layout: "split",
    shown: [
      images.length
        ? el("figure", {}, ...images, caption ? el("figcaption", { text: caption }) : null)
        : el("blockquote", { text: caption }),
      ...others.map((text) => el("blockquote", { text })),
    ],
    node: form,
    onKey: null,
  };
}

/** A group of fields with what is written in them. */
function entryOf(fields, texts, changed, remove) {
  const legend = el("legend");
  const away = el("button", { type: "button", class: "quiet", onclick: remove });
  const parts = fields.map((field) => partOf(field, texts[field.name] ?? "", changed));
  const node = el("fieldset", { class: "entry" }, legend, ...parts.map((part) => part.node), away);
  return {
    node,
    number: (number, removable) => {
      legend.textContent = t("entries.number", { number });
      away.textContent = t("entries.remove");
      away.setAttribute("aria-label", t("entries.remove.label", { number }));
      away.hidden = !removable;
    },
    raw: () => Object.fromEntries(parts.map((part) => [part.name, part.input.value])),
    value: () => Object.fromEntries(parts.map((part) => [part.name, part.input.value.trim()])),
    wrong: () => parts.map((part) => part.wrong()).find(Boolean) ?? null,
    clean: () => parts.forEach((part) => part.input.removeAttribute("aria-invalid")),
    input: (name) => parts.find((part) => part.name === name).input,
    focus: () => parts[0].input.focus(),
  };
}

/** One field: its question, its input, and how many characters it has of those it may have. */
function partOf(field, text, changed) {
  const { name, question, lines, min_length: least, max_length: most } = field;
  const id = freshId("field");
  const counter = el("span", { class: "counter", id: `${id}-count` });
  const common = { id, autocomplete: "off", "aria-describedby": counter.id };
  const input =
    lines > 1
      ? el("textarea", { ...common, rows: lines, spellcheck: "true" })
      : el("input", { ...common, type: "text" });
  input.value = text;
  const count = () => {
    const length = lengthOf(input.value);
    const short = length < least && least > 2;
    counter.textContent = t(short ? "entries.count.least" : "entries.count", { length, most, least });
    counter.classList.toggle("over", length > most);
  };
  input.addEventListener("input", () => {
    count();
    input.removeAttribute("aria-invalid");
    changed();
  });
  count();
  const wrong = () => {
    const length = lengthOf(input.value);
    const say = (reason) => ({ input, text: reason, values: { question, length, least, most } });
    if (length === 0 && least > 0) return say("entries.empty");
    if (length < least) return say("entries.short");
    return length > most ? say("entries.long") : null;
  };
  return {
    name,
    input,
    wrong,
    node: el("p", { class: "field" }, el("label", { for: id, text: question }), input, counter),
  };
}

/** Characters as people count them: those beyond the basic plane are one, spaces at the ends none. */
const lengthOf = (text) => [...text.trim()].length;

const folded = (text) => text.trim().replace(/\s+/g, " ").toLowerCase();

// Storage may be switched off; then a draft lives as long as the page.

function keep(trial, texts) {
  try {
    sessionStorage.setItem(KEPT, JSON.stringify({ trial, texts }));
  } catch {
    return; // The page itself still holds what is written.
  }
}

function recall(trial) {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEPT));
    return kept?.trial === trial ? kept.texts : [];
  } catch {
    return [];
  }
}
