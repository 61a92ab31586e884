// Approving and rejecting what was handed in.

import { el } from "../dom.js";
import { get, post } from "./api.js";
import { flagLine } from "./overview.js";
import { ask, facts, field, moment, pager, pill, raterLink } from "./parts.js";
import { count, duration, plural } from "./words.js";

const LISTS = { waiting: "To decide", decided: "Decided", under_way: "Under way" };
const LIMIT = 20;
const EMPTY = {
  waiting: "Nothing waits for a decision.",
  decided: "Nothing has been decided yet.",
  under_way: "Nobody is taking part now.",
};

/** The page; `me` is who looks, `flagsOf` gives the flags of a rater. */
export function decidePage(me, flagsOf, said) {
  const may = me.role !== "viewer";
  const list = el("div", { class: "cards" });
  const tabs = el("div", { class: "switch", role: "group", "aria-label": "Which sessions" });
  let which = "waiting";
  let offset = 0;
  let shown = "";

  async function load(focus = false) {
    const { total, rows } = await get(`sessions?which=${which}&offset=${offset}&limit=${LIMIT}`);
    if (offset && !rows.length) {
      offset = 0;
      await load(focus);
      return;
    }
    const now = JSON.stringify([which, offset, total, rows, rows.map((one) => flagsOf(one.rater))]);
    if (now === shown) return;
    shown = now;
    const quiet = rows.filter((one) => !flagsOf(one.rater).length);
    list.replaceChildren(
      ...[
        rows.length ? null : el("p", { class: "soft", text: EMPTY[which] }),
        may && which === "waiting" && quiet.length > 1 ? approveAll(quiet) : null,
        ...rows.map((one) => sessionCard(one, { may, flags: flagsOf(one.rater), decided })),
        pager(total, offset, LIMIT, (to) => {
          offset = to;
          load(true).catch(failed);
        }),
      ].filter(Boolean),
    );
    // After a decision the next session is at hand.
    if (focus) list.querySelector("button, a")?.focus();
  }

  const failed = (error) => said(error.message);

  async function decided(sentence) {
    said(sentence);
    await load(true);
  }

  function approveAll(quiet) {
    return el(
      "p",
      { class: "all" },
      el("button", {
        text: `Approve ${plural(quiet.length, "session")} without flags`,
        onclick: () =>
          ask({
            title: `Approve ${plural(quiet.length, "session")}?`,
            text: "Those on this page about which nothing stands out. Their answers go on counting.",
            action: "Approve them",
            run: async () => {
              for (const one of quiet) {
                await post(`sessions/${one.id}/verdict`, { verdict: "accepted", seen: one.verdict });
              }
              await decided(`${plural(quiet.length, "session")} approved.`);
            },
          }),
      }),
    );
  }

  for (const [name, text] of Object.entries(LISTS)) {
    tabs.append(
      el("button", {
        text,
        "aria-pressed": String(name === which),
        "data-which": name,
        onclick: () => {
          which = name;
          offset = 0;
          for (const one of tabs.children) {
            one.setAttribute("aria-pressed", String(one.dataset.which === name));
          }
          load().catch(failed);
        },
      }),
    );
  }
  load().catch(failed);
  return {
    node: el("div", {}, el("h1", { text: "Decide" }), tabs, list),
    // Whoever is reading or typing is not disturbed by what others do.
    update: () => {
      if (!document.querySelector("dialog") && !list.contains(document.activeElement)) {
        load().catch(failed);
      }
    },
  };
}

/** One session with its numbers, flags and decision; `decided` is called after a new decision. */
export function sessionCard(one, { may, flags, decided, link = true }) {
  const own = flags.filter((flag) => !flag.session || flag.session === String(one.id));
  const state = {
    accepted: pill("Approved", "good"),
    rejected: pill("Rejected", "bad"),
    withdrawn: pill("Withdrawn", "warn"),
    erased: pill("Erased", "warn"),
  }[one.verdict];
  const finished = one.stage === "complete" || one.stage === "ended";
  const told = [
    el(
      "div",
      { class: "head" },
      el("h2", {}, link ? raterLink(one.rater) : `Session ${one.id}`),
      state ?? (finished ? null : pill("Under way")),
      one.kind === "simulated" ? pill("Simulated") : null,
      one.batch === "pilot" ? pill("Pilot") : null,
    ),
    facts([
      ["Finished", one.finished_at ? moment(one.finished_at) : "–"],
      ["Took", one.minutes === null ? "–" : duration(one.minutes * 60)],
      ["Answers", one.valid === one.answers ? count(one.answers) : `${count(one.answers)}, ${count(one.valid)} count`],
      ["Median trial", duration(one.median_s)],
    ]),
    ...own.map(flagLine),
    ...one.reasons.map(({ rule, evidence }) => flagLine({ sentence: `${rule}: ${evidence}`, against: [] })),
    one.pay === "no" ? el("p", { class: "soft small", text: "Not to be paid, as the policy or a person says." }) : null,
    one.pay === "yes" && one.verdict === "rejected"
      ? el("p", { class: "soft small", text: "Paid all the same." })
      : null,
    one.decision
      ? el("p", { class: "soft small" }, `${one.decision.by ?? "somebody"}, `, moment(one.decision.at), one.decision.reason ? `: ${one.decision.reason}` : "")
      : null,
  ];
  return el(
    "article",
    { class: "card session", "aria-label": `Session ${one.id} of ${one.rater}` },
    el("div", {}, ...told),
    may && finished && (one.stage === "complete" || one.answers) ? buttons(one, own, decided) : null,
  );
}

let least = 10;

/** Fewest characters of a reason, as the server says. */
export const setLeast = (n) => {
  least = n;
};

function buttons(one, flags, decided) {
  const decide = async (verdict, reason, pay = null) => {
    const message = { verdict, reason, seen: one.verdict, pay };
    return post(`sessions/${one.id}/verdict`, message);
  };
  return el(
    "div",
    { class: "actions" },
    one.verdict === "accepted"
      ? null
      : el("button", {
          class: one.verdict ? "" : "main",
          text: one.verdict === "rejected" ? "Approve after all" : "Approve",
          "aria-label": `Approve session ${one.id} of ${one.rater}`,
          onclick: async (event) => {
            event.target.disabled = true;
            try {
              await decide("accepted", "");
              await decided(`Session ${one.id} approved.`);
            } catch (error) {
              event.target.disabled = false;
              await decided(error.message);
            }
          },
        }),
    one.verdict === "rejected"
      ? null
      : el("button", {
          text: "Reject …",
          "aria-label": `Reject session ${one.id} of ${one.rater}`,
          onclick: () => reject(one, flags, decide, decided),
        }),
  );
}

function reject(one, flags, decide, decided) {
  const evidence = [
    ...flags.map((flag) => flag.sentence),
    ...one.reasons.map((found) => found.evidence),
  ].join("; ");
  const pay = el("input", { type: "checkbox", checked: one.pay === "yes" });
  const input = el("textarea", { rows: 5, maxlength: 2000, minlength: least, required: true });
  input.value = evidence && `${evidence}.`;
  ask({
    title: `Reject session ${one.id}?`,
    text: `${plural(one.answers, "answer")} will not count any more, and the tasks are asked again. This can be taken back.`,
    action: "Reject",
    danger: true,
    content: [
      field("reason", "Reason", input, `At least ${least} characters, in words that the person can understand.`),
      el("label", { class: "option" }, pay, "Pay all the same"),
    ],
    run: async () => {
      const { answers } = await decide("rejected", input.value, pay.checked);
      await decided(`Session ${one.id} rejected; ${plural(answers, "answer")} will be asked again.`);
    },
  });
}
