// Which of two: the options side by side, or one above the other, and a button for each choice. The
// server drew which one is left and knows what stands there; this page does not.

import { el } from "./dom.js";
import { t } from "./texts.js";

export function preference({ trial, send, images }) {
  const { texts, options } = trial.stimulus;
  const own = new Set(options.map((option) => option.image));
  const context = images.filter((_, place) => !own.has(place));
  const [sides, others] = [trial.choices.slice(0, 2), trial.choices.slice(2)];
  const choose = (choice) => send({ value: choice.value });
  // Where no option has several labels, they have no rank, and no number before them.
  const ranked = options.some((option) => option.labels.length > 1);
  const cards = options.map((option, place) =>
    card(option, images[option.image], sides[place], ranked, () => choose(sides[place])),
  );
  const rest = others.map((choice, place) =>
    el(
      "button",
      { type: "button", class: "choice", onclick: () => choose(choice) },
      el("span", { text: choiceName(choice.name) }),
      el("kbd", { "aria-hidden": "true", text: String(place + 3) }),
    ),
  );
  const about = [...context, ...texts.map((text) => el("blockquote", { text }))];
  return {
    layout: about.length ? "compare" : "compare alone",
    shown: about,
    node: el(
      "div",
      {},
      el("div", { class: "cards" }, ...cards),
      rest.length ? el("div", { class: "actions wide" }, ...rest) : null,
    ),
    onKey: (event) => {
      const key = event.key.toLowerCase();
      const byLetter = sides.findIndex((choice) => choice.name.toLowerCase() === key);
      const place = byLetter >= 0 ? byLetter : Number(key) - 1;
      if (key.length === 1 && trial.choices[place]) choose(trial.choices[place]);
    },
  };
}

function card(option, image, choice, ranked, choose) {
  const name = t("pair.option", { name: choice.name });
  if (image) image.alt = name;
  return el(
    "section",
    { class: "card", "aria-label": name },
    el("h2", { "aria-hidden": "true", text: choice.name }),
    el(
      "div",
      { class: "content" },
      image ?? null,
      option.text ? el("p", { class: "text", text: option.text }) : null,
      ranked && option.labels.length
        ? el("ol", { class: "labels" }, ...option.labels.map((text) => el("li", { text })))
        : null,
      !ranked && option.labels.length
        ? el("p", { class: "text", text: option.labels[0] })
        : null,
    ),
    el(
      "button",
      { type: "button", class: "choice", onclick: choose },
      el("span", { text: t("pair.choose", { name: choice.name }) }),
      el("kbd", { "aria-hidden": "true", text: choice.name }),
    ),
  );
}

/** Name of a choice, in the language of the page where it has one. */
export function choiceName(name) {
  const found = t(`pair.${name}`);
  return found === `pair.${name}` ? name : found;
}
