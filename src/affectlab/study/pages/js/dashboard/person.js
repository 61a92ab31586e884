// One person, under the pseudonym: what was answered, how quickly, and what stands out.

import { el } from "../dom.js";
import { get } from "./api.js";
import { sessionCard } from "./decide.js";
import { flagLine } from "./overview.js";
import { facts, moment, pill, table } from "./parts.js";
import { ENDINGS, count, duration, plural } from "./words.js";

const KINDS = { main: "", golden: "golden", repeat: "repeat", training: "training" };
const SOURCES = { open: "open link", link: "invitation", prolific: "Prolific", connect: "Connect" };

export function personPage(rater, me, flagsOf, said) {
  const body = el("div", {}, el("p", { class: "soft", text: "Being read …" }));
  const failed = (error) => body.replaceChildren(el("p", { class: "error", text: error.message }));
  let shown = "";

  async function load() {
    const one = await get(`people/${encodeURIComponent(rater)}`);
    const flags = flagsOf(rater);
    const now = JSON.stringify([one, flags]);
    if (now === shown) return;
    shown = now;
    const decided = async (sentence) => {
      said(sentence);
      await load();
    };
    body.replaceChildren(
      facts([
        ["First came", moment(one.created_at)],
        ["From", SOURCES[one.source] ?? one.source],
        ["Language", one.language ?? "–"],
        ["Sessions", count(one.sessions.length)],
      ]),
      el("h2", { text: "What stands out" }),
      ...(flags.length
        ? flags.map(flagLine)
        : [el("p", { class: "soft", text: "Nothing, among the answers that count." })]),
      ...one.sessions.flatMap((session) => [
        el("h2", { text: `Session ${session.id}` }),
        sessionCard(session, { may: me.role !== "viewer", flags: [], decided, link: false }),
        el(
          "div",
          { class: "card" },
          trialTable(session, one.trials.filter((trial) => trial.session === session.id)),
        ),
      ]),
      el("h2", { text: "What happened" }),
      el("div", { class: "card" }, history(one.events)),
    );
  }

  load().catch(failed);
  return {
    node: el(
      "div",
      { class: "person" },
      el("p", {}, el("a", { href: "#/decide", text: "Back to all sessions" })),
      el("h1", {}, el("span", { class: "rater", text: rater })),
      body,
    ),
    update: () => {
      if (!document.querySelector("dialog") && !body.contains(document.activeElement)) {
        load().catch(failed);
      }
    },
  };
}

function trialTable(session, trials) {
  if (!trials.length) return el("p", { class: "soft", text: "No trial was reached." });
  const rows = trials.map((one) => [
    count(one.position),
    stimulus(one),
    el(
      "span",
      {},
      one.label ? `${one.label}: ` : "",
      one.answer ?? el("span", { class: "soft", text: one.state === "open" ? "to come" : one.state }),
      one.valid === false ? pill("does not count", "bad") : null,
      KINDS[one.kind] ? pill(KINDS[one.kind]) : null,
    ),
    one.seconds === null ? "–" : duration(one.seconds),
  ]);
  const columns = [["Trial", "number"], ["Stimulus", "name"], ["Answer", "answer"], ["Time", "number"]];
  return table(`Trials of session ${session.id}`, columns, rows, "trials");
}

function stimulus(one) {
  const pictures = one.pictures.map((place) =>
    el("img", { src: `/dashboard/api/pictures/${place}`, alt: "", loading: "lazy", width: 44, height: 44 }),
  );
  const words = one.texts.length ? one.texts.join(" / ") : one.stimulus;
  return el("span", { class: "stimulus" }, ...pictures, el("span", { text: words }));
}

const SAID = {
  entered: "came in",
  came_back: "came back",
  consented: "agreed to take part",
  completed: "completed the session",
  retaken: "went on after a while",
  skipped: "a trial could not be shown",
  accepted: "approved",
  rejected: "rejected",
  withdrawn: "withdrew",
};

function history(events) {
  return el(
    "ul",
    { class: "feed" },
    ...events.map((one) => {
      const reason = one.reason ? `: ${ENDINGS[one.reason] ?? one.reason}` : "";
      const by = one.by ? ` by ${one.by}` : "";
      const what =
        one.kind === "quiz"
          ? `took the quiz, attempt ${one.attempt}`
          : one.kind === "ended"
            ? "ended"
            : (SAID[one.kind] ?? one.kind.replaceAll("_", " "));
      return el("li", {}, moment(one.at), el("span", { text: `${what}${by}${reason}` }));
    }),
    events.length ? null : el("li", { text: plural(0, "event") }),
  );
}
