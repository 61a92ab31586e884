// "Is this emotion there?": two buttons, and the keys Y and N (or 1 and 0).

import { el } from "./dom.js";
import { t } from "./texts.js";

export function yesNo({ trial, send }) {
  const [label] = trial.labels;
  const say = (value) => send({ ratings: { [label.name]: value } });
  const button = (value, name) =>
    el(
      "button",
      { type: "button", class: "choice", onclick: () => say(value) },
      el("span", { text: t(name) }),
      el("kbd", { "aria-hidden": "true", text: t(`${name}.key`) }),
    );
  const more = [label.words.join(", "), label.definition].filter(Boolean);
  return {
    layout: "narrow",
    node: el(
      "div",
      {},
      ...more.map((text) => el("p", { class: "soft", text })),
      el("div", { class: "actions wide" }, button(1, "yes"), button(0, "no")),
    ),
    onKey: (event) => {
      const key = event.key.toLowerCase();
      if (key === "1" || key === t("yes.key").toLowerCase()) say(1);
      else if (key === "0" || key === t("no.key").toLowerCase()) say(0);
    },
  };
}
