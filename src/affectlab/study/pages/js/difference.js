// How far apart are two pictures: a slider that counts once it was moved, or confirmed where it
// stands. Where it went, and when, is sent with the answer.

import { el, freshId } from "./dom.js";
import { submitButton } from "./stages.js";
import { t } from "./texts.js";

const MOST_PLACES = 2000;
const SHORTEST_MS = 20;
const KEYS = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End", "PageUp", "PageDown"];

export function difference({ trial, send, problem }) {
  const { low, high } = trial.scale;
  const step = trial.scale.step ?? (high - low) / 100;
  const start = trial.start ?? low;
  const [lowest, highest] = trial.anchors ?? [String(low), String(high)];
  const began = performance.now();
  const places = [];
  let touched = false;
  let warned = false;
  const labelId = freshId("difference");
  const input = el("input", {
    type: "range",
    min: low,
    max: high,
    step,
    "aria-describedby": labelId,
    "aria-label": trial.question,
  });
  input.value = String(start);
  const shown = el("output", {});
  const value = () => Number(input.value);
  const words = () => {
    if (!touched) return t("difference.untouched");
    if (value() === low) return `${low} – ${lowest}`;
    if (value() === high) return `${high} – ${highest}`;
    return input.value;
  };
  const say = () => {
    shown.textContent = words();
    input.setAttribute("aria-valuetext", words());
    control.classList.toggle("untouched", !touched);
  };
  const note = () => {
    const place = [Math.round(performance.now() - began), value()];
    const [before, last] = [places.at(-2)?.[1] ?? start, places.at(-1)];
    const close = last && place[0] - last[0] < SHORTEST_MS;
    // Thinned out where it goes on the same way, so that no turn is lost; the last place is the
    // answer, and always kept.
    const onward = last && (last[1] - before) * (place[1] - last[1]) > 0;
    if ((close && onward) || places.length >= MOST_PLACES) places[places.length - 1] = place;
    else places.push(place);
  };
  const touch = () => {
    if (!touched || places.at(-1)?.[1] !== value()) note();
    touched = true;
    problem.textContent = "";
    say();
  };
  const submit = () => {
    if (!touched && trial.must_touch && !warned) {
      warned = true;
      problem.textContent = t("difference.confirm", { answer: start === low ? lowest : start });
      input.focus();
      return;
    }
    if (!touched) note();
    send({ value: value() }, trial.log_movement ? { movement: places } : {});
  };
  const control = el(
    "form",
    { class: "difference untouched" },
    input,
    el(
      "p",
      { class: "ends", id: labelId },
      el("span", { text: lowest }),
      el("span", { text: highest }),
    ),
    el("p", { class: "place" }, shown),
    el("div", { class: "actions wide" }, submitButton(t("answer"))),
  );
  control.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  ["input", "pointerup"].forEach((kind) => input.addEventListener(kind, touch));
  // A key at an end of the slider moves nothing, and is an answer all the same.
  input.addEventListener("keyup", (event) => {
    if (KEYS.includes(event.key)) touch();
  });
  say();
  return {
    layout: "pair",
    alts: [t("image.left"), t("image.right")],
    node: control,
    onKey: (event) => {
      if (event.key === "Enter" && !["BUTTON", "SUMMARY"].includes(event.target.tagName)) {
        event.preventDefault();
        if (!event.repeat) submit();
      } else if (KEYS.includes(event.key) && event.target !== input) {
        // Nobody needs to find the slider first.
        event.preventDefault();
        input.focus();
        input.value = String(moved(event.key, value(), { low, high, step }));
        touch();
      }
    },
  };
}

/** Where a key brings a slider, as browsers do it. */
function moved(key, from, { low, high, step }) {
  const by = {
    ArrowLeft: -step,
    ArrowDown: -step,
    ArrowRight: step,
    ArrowUp: step,
    PageDown: -10 * step,
    PageUp: 10 * step,
    Home: -Infinity,
    End: Infinity,
  };
  return Math.min(high, Math.max(low, from + by[key]));
}
