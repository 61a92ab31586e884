// The stages around the trials.

import * as api from "./api.js";
import { el, freshId, paragraphs, show } from "./dom.js";
import { t } from "./texts.js";

const POLL = 10_000;

export function consent(state, { go }) {
  // With what is agreed to, which may have changed on the server while this page was open.
  const { version, text, on_withdrawal } = state.consent;
  const shown = { version, text, on_withdrawal };
  const answer = (agreed) => () => go(() => api.advance("consent", { agreed, ...shown }));
  show(
    el("h1", { text: t("consent.title") }),
    ...paragraphs(state.consent.paragraphs),
    el(
      "div",
      { class: "actions" },
      el("button", { type: "button", class: "main", text: t("consent.yes"), onclick: answer(true) }),
      el("button", { type: "button", text: t("consent.no"), onclick: answer(false) }),
    ),
  );
}

export function demographics(state, { go }) {
  const fields = state.demographics.questions.map((question) => field(question));
  const form = el(
    "form",
    { novalidate: true },
    ...fields.map((one) => one.node),
    el("p", { class: "error", role: "alert" }),
    el("div", { class: "actions" }, submitButton(t("next"))),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const wrong = fields.find((one) => !one.valid());
    if (wrong) {
      form.querySelector(".error").textContent = wrong.problem;
      wrong.focus();
      return;
    }
    const answers = Object.fromEntries(fields.map((one) => [one.name, one.value()]));
    go(() => api.advance("demographics", { answers }));
  });
  show(
    el("h1", { text: t("demographics.title") }),
    el("p", { text: t("demographics.intro") }),
    form,
  );
}

/** One question about the participant, which can always be declined. */
function field(question) {
  if (question.kind === "choice") return choiceField(question);
  const id = freshId("field");
  const number = question.kind === "number";
  const input = el("input", {
    id,
    type: number ? "number" : "text",
    inputmode: number ? "numeric" : null,
    min: question.low,
    max: question.high,
    maxlength: 200,
    autocomplete: "off",
  });
  const low = question.low ?? "";
  const high = question.high ?? "";
  return {
    name: question.name,
    node: el("p", { class: "field" }, el("label", { for: id, text: question.question }), input),
    value: () => (input.value.trim() === "" ? null : number ? Number(input.value) : input.value),
    valid: () => input.validity.valid,
    problem: number ? t("demographics.range", { low, high }) : t("demographics.text"),
    focus: () => input.focus(),
  };
}

function choiceField(question) {
  const name = freshId("choice");
  const options = [...question.choices, null].map((choice) =>
    el(
      "label",
      { class: "option" },
      el("input", { type: "radio", name, value: choice ?? "" }),
      el("span", { text: choice ?? t("decline") }),
    ),
  );
  const group = el(
    "fieldset",
    { class: "field" },
    el("legend", { text: question.question }),
    ...options,
  );
  return {
    name: question.name,
    node: group,
    value: () => group.querySelector("input:checked")?.value || null,
    valid: () => true,
    problem: "",
    focus: () => group.querySelector("input").focus(),
  };
}

export function instructions(state, { go }) {
  show(
    el("h1", { text: t("instructions.title") }),
    ...paragraphs(state.instructions.paragraphs),
    el(
      "div",
      { class: "actions" },
      el("button", {
        type: "button",
        class: "main",
        text: t("next"),
        onclick: () => go(() => api.advance("instructions")),
      }),
    ),
  );
}

export function quiz(state, { go }) {
  const { questions, attempts_left: left, wrong } = state.quiz;
  const groups = questions.map((question) => {
    const name = freshId("quiz");
    const mistake = wrong.find((one) => one.question === question.question);
    return el(
      "fieldset",
      { class: "field" },
      el("legend", { text: question.question }),
      mistake
        ? el("p", { class: "error", text: mistake.explanation || t("quiz.wrong") })
        : null,
      ...question.choices.map((choice) =>
        el(
          "label",
          { class: "option" },
          el("input", { type: "radio", name, value: choice }),
          el("span", { text: choice }),
        ),
      ),
    );
  });
  const problem = el("p", { class: "error", role: "alert" });
  if (wrong.length) problem.textContent = t("quiz.again", { left });
  const form = el(
    "form",
    {},
    ...groups,
    problem,
    el("div", { class: "actions" }, submitButton(t("quiz.check"))),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const answers = groups.map((group) => group.querySelector("input:checked")?.value ?? null);
    const open = answers.indexOf(null);
    if (open >= 0) {
      problem.textContent = t("quiz.open");
      groups[open].querySelector("input").focus();
      return;
    }
    go(() => api.advance("quiz", { answers }));
  });
  show(
    el("h1", { text: t("quiz.title") }),
    el("p", { text: t("quiz.intro", { left }) }),
    el(
      "details",
      {},
      el("summary", { text: t("instructions.read") }),
      ...paragraphs(state.instructions.paragraphs),
    ),
    form,
  );
}

export function waiting(state, { go }) {
  const look = () => go(() => api.advance("waiting"));
  const timer = setInterval(look, POLL);
  const stop = new MutationObserver(() => {
    clearInterval(timer);
    stop.disconnect();
  });
  show(
    el("h1", { text: t("waiting.title") }),
    el("p", { text: t("waiting.text", { minutes: state.waiting.minutes }) }),
    el("p", { text: t("waiting.stay") }),
    el("div", { class: "actions" }, el("button", { type: "button", text: t("waiting.look"), onclick: look })),
  );
  stop.observe(document.getElementById("stage"), { childList: true });
}

export function complete(state, { go }) {
  const { code, return_url: address, thanks } = state.complete;
  const copied = el("span", { role: "status" });
  const copy = async () => {
    await navigator.clipboard.writeText(code);
    copied.textContent = t("complete.copied");
  };
  show(
    el("h1", { text: t("complete.title") }),
    ...paragraphs(thanks.length ? thanks : [t("complete.thanks")]),
    el("p", { text: t("complete.code") }),
    el("p", { class: "code" }, el("output", { text: code })),
    el(
      "div",
      { class: "actions" },
      address ? el("a", { class: "button main", href: address, text: t("complete.back") }) : null,
      navigator.clipboard
        ? el("button", { type: "button", text: t("complete.copy"), onclick: copy })
        : null,
      copied,
    ),
    ...whatStays(state, go),
  );
}

/** Say what becomes of the answers of a session that is over, and let them be withdrawn. */
function whatStays(state, go) {
  const drops = state.study.drops_on_withdrawal;
  if (state.complete.withdrawn) {
    return [el("p", { role: "status", text: t(drops ? "ended.withdrawn" : "ended.withdrawn.keep") })];
  }
  const sure = t(drops ? "complete.withdraw.sure" : "complete.withdraw.sure.keep");
  const withdraw = () => {
    if (window.confirm(sure)) go(api.withdraw);
  };
  return [
    el("p", { class: "soft", text: t("complete.stored") }),
    el(
      "div",
      { class: "actions" },
      el("button", {
        type: "button",
        class: "quiet",
        text: t("complete.withdraw"),
        onclick: withdraw,
      }),
    ),
  ];
}

export function ended(state) {
  const keeps = state.ended.reason === "withdrawn" && !state.study.drops_on_withdrawal;
  show(
    el("h1", { text: t("ended.title") }),
    el("p", { text: t(keeps ? "ended.withdrawn.keep" : `ended.${state.ended.reason}`) }),
    ...(state.ended.code
      ? [
          el("p", { text: t("ended.code") }),
          el("p", { class: "code" }, el("output", { text: state.ended.code })),
        ]
      : []),
    ...paragraphs(state.ended.paragraphs),
    ...(state.ended.return_url
      ? [
          el(
            "div",
            { class: "actions" },
            el("a", {
              class: "button main",
              href: state.ended.return_url,
              text: t("complete.back"),
            }),
          ),
        ]
      : []),
  );
}

export const submitButton = (text) => el("button", { type: "submit", class: "main", text });
