// One of two answers about two pictures, again and again: a button and a key for each.

import { el } from "./dom.js";
import { t } from "./texts.js";

export function compare({ trial, send }) {
  const choices = trial.scale.categories.map((name, place) => ({
    name,
    text: named(`category.${name}`, name),
    keys: [String(place + 1), named(`category.${name}.key`, "").toLowerCase()].filter(Boolean),
  }));
  const say = (choice) => send({ value: choice.name });
  return {
    layout: "pair",
    alts: [t("image.left"), t("image.right")],
    node: el(
      "div",
      { class: "actions wide" },
      ...choices.map((choice) =>
        el(
          "button",
          { type: "button", class: "choice", onclick: () => say(choice) },
          el("span", { text: choice.text }),
          el("kbd", { "aria-hidden": "true", text: choice.keys.at(-1).toUpperCase() }),
        ),
      ),
    ),
    onKey: (event) => {
      // A key that is held down answers once.
      if (event.repeat) return;
      const choice = choices.find((one) => one.keys.includes(event.key.toLowerCase()));
      if (choice) say(choice);
    },
  };
}

/** A text where the pages have one, else the word of the protocol. */
function named(key, otherwise) {
  const text = t(key);
  return text === key ? otherwise : text;
}
