// One trial: shows the stimulus once it has loaded, asks, and sends the answer.

import * as api from "./api.js";
import { choices } from "./choices.js";
import { compare } from "./compare.js";
import { difference } from "./difference.js";
import { el, paragraphs, show } from "./dom.js";
import { frame } from "./frame.js";
import { choiceName, preference } from "./preference.js";
import { ratings } from "./ratings.js";
import { reaction } from "./reaction.js";
import { t } from "./texts.js";
import { yesNo } from "./yesno.js";

const ATTEMPTS = 3;
const RETRY_AFTER = 1500;

let onKey = null;

document.addEventListener("keydown", (event) => {
  if (onKey && !event.ctrlKey && !event.metaKey && !event.altKey) onKey(event);
});

/** Show the next trial of a state, with a break before it where one is due. */
export function showTrial(state, tools) {
  onKey = null;
  if (state.feedback) feedback(state, tools);
  else if (state.break) pause(state, tools);
  else ask(state, tools);
}

async function ask(state, { go, fail }) {
  const { trial } = state;
  const loading = el("p", { class: "soft", role: "status", text: t("loading") });
  show(el("h1", { class: "question", text: trial.question }), loading);
  const images = await Promise.all(trial.stimulus.images.map(load));
  if (images.includes(null)) {
    go(() => api.skip(trial.id, "image failed"));
    return;
  }
  state.preload.forEach((address) => {
    new Image().src = address;
  });
  const shownAt = performance.now();
  const problem = el("p", { class: "error", role: "alert" });
  let sent = false;
  const send = async (answer, more = {}) => {
    if (sent) return;
    sent = true;
    onKey = null;
    document.querySelectorAll("#stage input, #stage textarea, #stage button").forEach((one) => {
      one.disabled = true;
    });
    const message = {
      trial: trial.id,
      answer,
      widget: trial.widget,
      rt_ms: Math.round(performance.now() - shownAt),
      ...more,
    };
    try {
      const next = await api.answer(message);
      go(async () => next);
    } catch (error) {
      fail(error);
    }
  };
  const control = controlOf(trial)({ trial, send, problem, images });
  onKey = control.onKey;
  (control.alts ?? []).forEach((text, place) => {
    images[place].alt = text;
  });
  // Some controls show all or part of the stimulus themselves.
  const shown =
    control.shown ?? [...images, ...trial.stimulus.texts.map((text) => el("blockquote", { text }))];
  show(
    el(
      "div",
      { class: `trial ${control.layout}` },
      shown.length
        ? el("section", { class: "stimulus", "aria-label": t("stimulus") }, ...shown)
        : null,
      el(
        "section",
        { class: "answer" },
        trial.kind === "training" ? el("p", { class: "badge", text: t("training") }) : null,
        el("h1", { class: "question", text: trial.question }),
        control.node,
        problem,
        el(
          "details",
          { class: "help" },
          el("summary", { text: t("instructions.read") }),
          ...paragraphs(state.instructions.paragraphs),
        ),
      ),
    ),
  );
}

function controlOf(trial) {
  if (trial.answer === "entries") return reaction;
  if (trial.answer === "trials") return frame;
  if (trial.stimulus.options.length) return preference;
  if (trial.staircase) return compare;
  if (trial.answer === "value" && trial.widget === "slider") return difference;
  if (trial.answer === "choices") return choices;
  if (trial.answer === "ratings" && trial.widget === "buttons") return yesNo;
  return ratings;
}

/** Load a picture, trying again when it does not come; null when it cannot be shown. */
async function load(address) {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const image = el("img", { alt: t("image.alt"), draggable: "false" });
    image.src = attempt === 1 ? address : `${address}?again=${attempt}`;
    try {
      await image.decode();
      return image;
    } catch {
      api.report("image_retry", { attempt });
      await new Promise((resolve) => {
        setTimeout(resolve, RETRY_AFTER * (attempt - 1));
      });
    }
  }
  return null;
}

function pause(state, tools) {
  show(
    el("h1", { text: t("break.title") }),
    el("p", { text: t("break.text", state.progress) }),
    el(
      "div",
      { class: "actions" },
      el("button", {
        type: "button",
        class: "main",
        text: t("break.go"),
        onclick: () => ask(state, tools),
      }),
    ),
  );
}

/** What a line of feedback is about: a label, one of some choices, or a value. */
function kindOf(line) {
  if (line.label) return "line";
  return typeof line.expected === "string" ? "choice" : "value";
}

/** After a training trial: what a good answer would have been. */
function feedback(state, tools) {
  const { right, lines } = state.feedback;
  show(
    el("h1", { text: t(right ? "feedback.right" : "feedback.wrong") }),
    el(
      "ul",
      { class: "feedback" },
      ...lines.map((line) =>
        el("li", {
          class: line.right ? "right" : "wrong",
          text: t(`feedback.${kindOf(line)}.${line.right ? "right" : "wrong"}`, {
            label: line.label,
            expected: choiceName(line.expected),
            given: choiceName(line.given ?? t("feedback.nothing")),
          }),
        }),
      ),
    ),
    el(
      "div",
      { class: "actions" },
      el("button", {
        type: "button",
        class: "main",
        text: t("next"),
        onclick: () => ask({ ...state, feedback: null }, tools),
      }),
    ),
  );
}
